import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { AgentStateStore } from "@holdfast/core";
import {
  type Inbox,
  type InboxEntry,
  MAX_INBOX_BYTES,
  MAX_INBOX_ENTRIES,
} from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { awkwardJson, inboxEntry } from "../conformance/sample-entries.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { badSlots, nastySlots, sampleSlot as slot } from "../conformance/sample-slots.js";
import { tamper } from "../conformance/tamper.js";
import { assertStored, firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

/** Stores that keep what was said to a session until a save takes it in. */
export function inboxCases(
  check: StoreCase,
  options: Pick<AgentStateStoreOptions, "reopen">,
): ConformanceCase[] {
  return [
    check("inbox entries come back as they were put, in order, until removed", async (store) => {
      const inbox = inboxOf(store);
      assert.deepStrictEqual(await inbox.read(slot), []);
      const entries = [
        inboxEntry("first"),
        inboxEntry("second", { kind: "interrupt", id: "* '{}\"漢", callId: "a/b:c" }),
        inboxEntry("third", { body: awkwardJson() }),
        inboxEntry("fourth", { at: "2001-02-03T04:05:06.789Z" }),
      ];
      for (const entry of entries) await inbox.put(slot, entry);
      await assertInbox(store, entries);
      const [first, second, third, fourth] = entries as [
        InboxEntry,
        InboxEntry,
        InboxEntry,
        InboxEntry,
      ];
      await inbox.remove(slot, [second.id, "not there"]);
      await assertInbox(store, [first, third, fourth]);
      await inbox.remove(slot, []);
      await inbox.remove(slot, [fourth.id, first.id]);
      await assertInbox(store, [third]);
      await inbox.remove(slot, [third.id]);
      await assertInbox(store, []);
      await inbox.remove(slot, [third.id]);
    }),
    check("an inbox entry that is there already is not put again", async (store) => {
      const inbox = inboxOf(store);
      const [first, second] = [inboxEntry("first"), inboxEntry("second")];
      for (const entry of [first, second, first, { ...first, body: {} }])
        await inbox.put(slot, entry);
      await assertInbox(store, [first, second]);
    }),
    check("an inbox changes neither revision nor state, nor a save the inbox", async (store) => {
      const inbox = inboxOf(store);
      const entries = [inboxEntry("before there is a state"), inboxEntry("after")];
      await inbox.put(slot, entries[0] as InboxEntry);
      assert.equal(await store.load(slot), null, "an inbox is not a state");
      await store.save(slot, firstWrite(slot, numberedMessages(2)));
      const stored = await loadState(store, slot);
      await inbox.put(slot, entries[1] as InboxEntry);
      await assertStored(store, slot, stored);
      await store.save(slot, nextWrite(stored, numberedMessages(1)));
      await assertInbox(store, entries);
    }),
    check("values put into an inbox are copied, those read are the caller's own", async (store) => {
      const inbox = inboxOf(store);
      const entry = inboxEntry("mine", { body: { list: [{ n: 1 }] } });
      const kept = structuredClone(entry);
      await inbox.put(slot, entry);
      tamper(entry);
      tamper(await inbox.read(slot));
      await assertInbox(store, [kept]);
    }),
    check("every slot has an inbox of its own, whatever its ids", async (store) => {
      const inbox = inboxOf(store);
      const slots = nastySlots();
      const entries = slots.map((_, index) => inboxEntry(`${index}`, { id: "same" }));
      await inBatches(slots, 16, (each, at) => inbox.put(each, entries[at] as InboxEntry));
      await inBatches(slots, 16, async (each, at) =>
        assert.deepStrictEqual(await inbox.read(each), [entries[at]]),
      );
    }),
    check("what is not an id is refused by the inbox", async (store) => {
      await assertBadIdsRefusedByInbox(store);
    }),
    check("of many entries put at once none is lost", async (store) => {
      const inbox = inboxOf(store);
      const entries = numberedEntries(40);
      await Promise.all(entries.map((entry) => inbox.put(slot, entry)));
      const ids = (some: readonly InboxEntry[]) => some.map(({ id }) => id).sort();
      assert.deepStrictEqual(ids(await inbox.read(slot)), ids(entries));
    }),
    check(`an inbox holds ${MAX_INBOX_ENTRIES} entries and refuses more`, async (store) => {
      const inbox = inboxOf(store);
      const entries = numberedEntries(MAX_INBOX_ENTRIES);
      for (const entry of entries) await inbox.put(slot, entry);
      const more = inboxEntry("one too many");
      await assertRejects(() => inbox.put(slot, more), "StateTooLargeError", "an entry too many");
      await inbox.put(slot, entries[0] as InboxEntry);
      await assertInbox(store, entries);
      await inbox.remove(slot, [(entries[0] as InboxEntry).id]);
      await inbox.put(slot, more);
      await assertInbox(store, [...entries.slice(1), more]);
    }),
    check("an inbox holds 8 MiB of entries and refuses more", async (store) => {
      const inbox = inboxOf(store);
      // Every entry takes another part of one text: making it takes longer than most stores take to keep it.
      const text = twoByteText(MAX_INBOX_BYTES * 1.25);
      let from = 0;
      const large = (bytes: number) => {
        const start = from++ * 50_000;
        return inboxEntry("large", { body: { text: text.slice(start, start + bytes / 2) } });
      };
      const beyond = large(MAX_INBOX_BYTES * 1.1);
      await assertRejects(() => inbox.put(slot, beyond), "StateTooLargeError", "too many bytes");
      const [first, second] = [large(MAX_INBOX_BYTES * 0.45), large(MAX_INBOX_BYTES * 0.45)];
      await inbox.put(slot, first);
      await inbox.put(slot, second);
      const more = large(MAX_INBOX_BYTES * 0.3);
      await assertRejects(() => inbox.put(slot, more), "StateTooLargeError", "too many bytes");
      await assertInbox(store, [first, second]);
      await inbox.remove(slot, [first.id]);
      await inbox.put(slot, more);
      await assertInbox(store, [second, more]);
    }),
    check("deleting a session empties its inbox, also when nothing was saved", async (store) => {
      const inbox = inboxOf(store);
      const other = { ...slot, sessionId: "other" };
      const entry = inboxEntry("forget me");
      await inbox.put(other, entry);
      await inbox.put(slot, entry);
      await store.delete(slot);
      await assertInbox(store, []);
      await inbox.put(slot, entry);
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      assert.equal(await store.delete(slot), true);
      await assertInbox(store, []);
      await inbox.put(slot, entry);
      await assertInbox(store, [entry]);
      assert.deepStrictEqual(await inbox.read(other), [entry], "another session's inbox");
    }),
    ...(options.reopen === undefined ? [] : [acrossInstances(check)]),
  ];
}

function acrossInstances(check: StoreCase): ConformanceCase {
  return check("two instances see one inbox", async (store, reopen) => {
    const [first, second] = [inboxEntry("first"), inboxEntry("second")];
    await inboxOf(store).put(slot, first);
    const other = await reopen();
    await assertInbox(other, [first]);
    await inboxOf(other).put(slot, first);
    await inboxOf(other).put(slot, second);
    await assertInbox(store, [first, second]);
    await inboxOf(store).remove(slot, [first.id]);
    await assertInbox(other, [second]);
  });
}

/** The store's inbox; fails when it has none. */
export function inboxOf(store: AgentStateStore): Inbox {
  assert.ok(store.inbox !== undefined, "options.inbox says there is an inbox, the store has none");
  return store.inbox;
}

/** Fails unless the sample slot's inbox holds exactly these. */
export async function assertInbox(
  store: AgentStateStore,
  entries: readonly InboxEntry[],
): Promise<void> {
  const held = await inboxOf(store).read(slot);
  // By id first: a difference of megabytes would take minutes to print.
  assert.deepStrictEqual(
    held.map(({ id }) => id),
    entries.map(({ id }) => id),
    "ids of the inbox entries",
  );
  for (const [index, entry] of entries.entries())
    assert.ok(isDeepStrictEqual(held[index], entry), `entry ${index} came back changed`);
}

/** Random text of this size whose characters take two bytes in UTF-8, so that neither units nor compression make it small. */
function twoByteText(size: number): string {
  const bytes = randomBytes(Math.floor(size / 2) * 2);
  for (let at = 0; at < bytes.length; at += 2) {
    bytes[at] = 0xc4 + ((bytes[at] as number) % 0x1a);
    bytes[at + 1] = 0x80 + ((bytes[at + 1] as number) % 0x40);
  }
  return bytes.toString("utf8");
}

/** Makes entries with their number in the text. */
export function numberedEntries(count: number): InboxEntry[] {
  return Array.from({ length: count }, (_, index) => inboxEntry(`entry ${index}`));
}

/** Fails unless the inbox refuses every bad slot with `InvalidIdError`. */
export async function assertBadIdsRefusedByInbox(store: AgentStateStore): Promise<void> {
  const inbox = inboxOf(store);
  const entry = inboxEntry("nowhere");
  for (const [what, bad] of badSlots()) {
    await assertRejects(() => inbox.put(bad, entry), "InvalidIdError", `put with ${what}`);
    await assertRejects(() => inbox.read(bad), "InvalidIdError", `read with ${what}`);
    await assertRejects(() => inbox.remove(bad, ["x"]), "InvalidIdError", `remove with ${what}`);
  }
}
