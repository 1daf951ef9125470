import assert from "node:assert/strict";
import { type Message, userMessage } from "@holdfast/core";
import { isWhole, revisionSeq } from "@holdfast/core/store-kit";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import {
  awkwardMessages,
  everyBlockType,
  numberedMessages,
} from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { tamper } from "../conformance/tamper.js";
import { assertStored, firstWrite, loadState, nextWrite, sampleHead } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** A state comes back exactly as it was saved. */
export function roundTripCases(check: StoreCase): ConformanceCase[] {
  return [
    check("a slot never saved loads as null, with or without a known revision", async (store) => {
      assert.equal(await store.load(slot), null);
      assert.equal(await store.load(slot, `1.${"0".repeat(32)}`), null);
    }),
    check("every role, block type and optional field comes back", async (store) => {
      const write = firstWrite(slot, everyBlockType());
      const revision = await store.save(slot, write);
      await assertStored(store, slot, { revision, head: write.head, messages: write.append });
    }),
    check(
      "lone surrogates, __proto__ keys, empty strings and any Unicode come back",
      async (store) => {
        const messages = awkwardMessages();
        const head = JSON.parse(JSON.stringify({ ...sampleHead(slot), awkward: messages }));
        const write = firstWrite(slot, messages, { head });
        const revision = await store.save(slot, write);
        await assertStored(store, slot, { revision, head: write.head, messages: write.append });
        assert.equal(Reflect.get({}, "polluted"), undefined, "no prototype was polluted");
      },
    ),
    check("a state without messages is a state, not absence", async (store) => {
      const write = firstWrite(slot, []);
      const revision = await store.save(slot, write);
      await assertStored(store, slot, { revision, head: write.head, messages: [] });
    }),
    check("5,000 messages come back in order, and a save after them works", async (store) => {
      const messages = numberedMessages(5_000);
      await store.save(slot, firstWrite(slot, messages));
      const loaded = await loadState(store, slot);
      const more = numberedMessages(1, "more");
      const revision = await store.save(slot, nextWrite(loaded, more));
      await assertStored(store, slot, {
        revision,
        head: loaded.head,
        messages: [...messages, ...more],
      });
    }),
    check(
      "values given are copied: changing them after the save changes nothing",
      async (store) => {
        // Frozen messages could be shared unseen; a caller's own object may not be frozen.
        const messages: Message[] = [JSON.parse(JSON.stringify(userMessage("x")))];
        const kept = structuredClone(messages);
        const write = firstWrite(slot, messages);
        const revision = await store.save(slot, write);
        tamper(write);
        await assertStored(store, slot, { revision, head: sampleHead(slot), messages: kept });
      },
    ),
    check("values returned are the caller's own: changing them changes nothing", async (store) => {
      const write = firstWrite(slot, everyBlockType());
      const revision = await store.save(slot, write);
      tamper(await loadState(store, slot));
      await assertStored(store, slot, { revision, head: write.head, messages: write.append });
    }),
    check('"unchanged" is answered for the current revision only', async (store) => {
      const first = await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const again = await store.load(slot, first);
      assert.ok(again === "unchanged" || again?.revision === first);
      const second = await store.save(
        slot,
        nextWrite(await loadState(store, slot), numberedMessages(1)),
      );
      const sameNumber = `${revisionSeq(second)}.${"0".repeat(32)}`;
      const changed = await store.load(slot, first);
      assert.ok(changed !== null && changed !== "unchanged", "what changed, or the full state");
      assert.equal(changed.revision, second);
      for (const known of [sameNumber, "", "0"]) {
        const loaded = await store.load(slot, known);
        assert.ok(isWhole(loaded), "the full state for a revision that was never stored");
        assert.equal(loaded.revision, second);
        assert.equal(loaded.messages.length, 2);
      }
    }),
    check(
      "every save has a revision of its own, with a rising number and 128 random bits",
      async (store) => {
        const revisions = [await store.save(slot, firstWrite(slot, []))];
        for (let index = 0; index < 5; index++)
          revisions.push(await store.save(slot, nextWrite(await loadState(store, slot), [])));
        for (const [index, revision] of revisions.entries()) {
          assert.match(revision, /^\d+\.[0-9a-f]{32}$/);
          const before = revisions[index - 1];
          if (before !== undefined) assert.ok(revisionSeq(revision) > revisionSeq(before));
        }
        const tokens = revisions.map((revision) => revision.split(".")[1]);
        assert.equal(new Set(tokens).size, tokens.length, "tokens differ");
      },
    ),
  ];
}
