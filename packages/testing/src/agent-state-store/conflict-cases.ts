import assert from "node:assert/strict";
import { type AgentStateStore, textOf, userMessage } from "@holdfast/core";
import { revisionSeq } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { scaled } from "../conformance/scaled.js";
import {
  appendWithRetry,
  assertStored,
  firstWrite,
  loadState,
  nextWrite,
  sampleHead,
} from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** Compare-and-set: no writer overwrites a state it has not seen. */
export function conflictCases(check: StoreCase): ConformanceCase[] {
  return [
    check("a save based on an older revision is refused and writes nothing", async (store) => {
      await store.save(slot, firstWrite(slot, numberedMessages(3)));
      const stale = await loadState(store, slot);
      await store.save(slot, nextWrite(stale, numberedMessages(1, "first")));
      const stored = await loadState(store, slot);
      const late = nextWrite(stale, numberedMessages(1, "late"), {
        head: sampleHead(slot, "late"),
        keep: 1,
        replace: [[0, userMessage("late")]],
      });
      await assertRejects(() => store.save(slot, late), "StateConflictError", "a stale save");
      await assertStored(store, slot, stored);
    }),
    check("a first save is refused where a state exists", async (store) => {
      await store.save(slot, firstWrite(slot, numberedMessages(2)));
      const stored = await loadState(store, slot);
      const again = firstWrite(slot, [], { head: sampleHead(slot, "late") });
      await assertRejects(
        () => store.save(slot, again),
        "StateConflictError",
        "a second first save",
      );
      await assertStored(store, slot, stored);
    }),
    check("a save based on a revision is refused where nothing is stored", async (store) => {
      const write = firstWrite(slot, numberedMessages(1), { expected: `1.${"0".repeat(32)}` });
      await assertRejects(
        () => store.save(slot, write),
        "StateConflictError",
        "a save onto nothing",
      );
      assert.equal(await store.load(slot), null);
    }),
    check("a revision with the right number and another token is refused", async (store) => {
      const revision = await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const stored = await loadState(store, slot);
      const expected = `${revisionSeq(revision)}.${"0".repeat(32)}`;
      const write = nextWrite(stored, numberedMessages(1), { expected });
      await assertRejects(() => store.save(slot, write), "StateConflictError", "another token");
      await assertStored(store, slot, stored);
    }),
    check("of many first saves at once exactly one wins", async (store) => {
      const writes = numberedMessages(16).map((message) => firstWrite(slot, [message]));
      const results = await Promise.allSettled(writes.map((write) => store.save(slot, write)));
      const won = results.flatMap((result, index) =>
        result.status === "fulfilled" ? [index] : [],
      );
      assert.equal(won.length, 1, "saves that were acknowledged");
      const winner = writes[won[0] as number];
      assert.deepStrictEqual((await loadState(store, slot)).messages, winner?.append);
    }),
    check("many writers at once lose nothing and double nothing", async (store) => {
      await assertNothingLost([store]);
    }),
    check("a reader sees the old state or the new one, never a mix", async (store) => {
      const messagesOf = (number: number) => numberedMessages(1 + (number % 7), `${number}:`);
      const generation = (number: number) =>
        firstWrite(slot, messagesOf(number), { head: sampleHead(slot, `${number}`) });
      let expected = await store.save(slot, generation(0));
      let writing = true;
      const read = async (): Promise<void> => {
        while (writing) {
          const { head, messages } = await loadState(store, slot);
          const number = Number((head["extensions"] as { note: string }).note);
          assert.deepStrictEqual(messages.map(textOf), messagesOf(number).map(textOf));
        }
      };
      const readers = [read(), read(), read()];
      const write = async (): Promise<void> => {
        for (let number = 1; number <= scaled(20, 400); number++)
          expected = await store.save(slot, { ...generation(number), expected });
      };
      const written = write().finally(() => {
        writing = false;
      });
      await Promise.all([written, ...readers]);
    }),
  ];
}

/** Has many writers, spread over `stores`, add a message each to one slot; fails when one is missing or there twice. */
export async function assertNothingLost(stores: readonly AgentStateStore[]): Promise<void> {
  const messages = numberedMessages(scaled(24, 64));
  await Promise.all(
    messages.map((message, index) =>
      appendWithRetry(stores[index % stores.length] as AgentStateStore, slot, message),
    ),
  );
  for (const store of stores) {
    const { messages: stored } = await loadState(store, slot);
    assert.deepStrictEqual(
      stored.map((message) => message.id).sort(),
      messages.map((message) => message.id).sort(),
      "every writer's message, once",
    );
  }
}
