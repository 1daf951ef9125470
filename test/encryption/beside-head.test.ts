import type { AgentStateStore, SessionInfo } from "@holdfast/core";
import type { CallRecord, Inbox, InboxEntry } from "@holdfast/core/store-kit";
import { withEncryption } from "@holdfast/encryption";
import { describe, expect, test } from "vitest";
import { canary } from "./canary.js";
import { freshOptions } from "./keys.js";
import { corruption, loadState, slotOf, writeOn } from "./stored.js";
import { memorySubject } from "./subjects.js";

const slot = slotOf();
const other = slotOf("other");
const entry: InboxEntry = {
  id: "entry-1",
  kind: "input",
  callId: "call-1",
  at: "2026-01-01T00:00:00.000Z",
  body: { text: canary },
};

function inboxOf(store: AgentStateStore): Inbox {
  if (store.inbox === undefined) throw new TypeError("the store has no inbox");
  return store.inbox;
}

describe("an inbox entry", () => {
  test("is stored without what was said, and comes back whole, by lease and by port", async () => {
    const { store, inner } = memorySubject();
    const lease = await store.fuses?.gate?.acquire(slot, { callId: "call-1", put: entry });
    expect(lease?.inbox).toEqual([entry]);
    expect(await inboxOf(store).read(slot)).toEqual([entry]);
    const [stored] = await inboxOf(inner).read(slot);
    expect(stored).toMatchObject({ ...entry, body: { sealed: expect.any(String) } });
    expect(JSON.stringify(stored)).not.toContain(canary);
    await lease?.release([entry.id]);
    expect(await inboxOf(inner).read(slot)).toEqual([]);
  });

  test.each<[string, (stored: InboxEntry) => InboxEntry]>([
    ["under another id", (stored) => ({ ...stored, id: "entry-2" })],
    ["as another kind", (stored) => ({ ...stored, kind: "interrupt" })],
    ["of another call", (stored) => ({ ...stored, callId: "call-2" })],
    ["at another time", (stored) => ({ ...stored, at: "2026-02-01T00:00:00.000Z" })],
    ["in plain text", (stored) => ({ ...stored, body: { text: "do something else" } })],
  ])("does not open %s", async (_, change) => {
    const { store, inner } = memorySubject();
    await inboxOf(store).put(slot, entry);
    const [stored] = await inboxOf(inner).read(slot);
    await inboxOf(inner).remove(slot, [entry.id]);
    await inboxOf(inner).put(slot, change(stored as InboxEntry));
    await corruption(() => inboxOf(store).read(slot));
    const lease = await store.fuses?.gate?.acquire(slot, { callId: "call-3" });
    await corruption(async () => lease?.inbox);
    await lease?.release();
  });

  test("does not open in another session", async () => {
    const { store, inner } = memorySubject();
    await inboxOf(store).put(slot, entry);
    for (const stored of await inboxOf(inner).read(slot)) await inboxOf(inner).put(other, stored);
    await corruption(() => inboxOf(store).read(other));
  });

  test("of before encryption is read only with readPlaintext", async () => {
    const { store, inner, options } = memorySubject();
    await inboxOf(inner).put(slot, entry);
    await corruption(() => inboxOf(store).read(slot));
    const migrating = withEncryption(inner, { ...options, readPlaintext: true });
    expect(await inboxOf(migrating).read(slot)).toEqual([entry]);
  });
});

describe("a call record", () => {
  const record: CallRecord = { callId: "call-1", reply: { text: canary } };

  test("is stored with nothing but its call id, and does not open under another", async () => {
    const { store, inner } = memorySubject();
    await store.save(slot, writeOn(null, [], { callRecord: { record, keep: 3 } }));
    expect((await loadState(store, slot)).callRecords).toEqual([record]);
    const stored = await loadState(inner, slot);
    const [sealed] = stored.callRecords ?? [];
    expect(sealed).toEqual({ callId: "call-1", sealed: expect.any(String) });
    const moved = { ...sealed, callId: "call-2" } as CallRecord;
    const { revision } = stored;
    const callRecord = { record: moved, keep: 3 };
    await inner.save(slot, writeOn(stored, [], { revision, callRecord }));
    await corruption(() => store.load(slot));
  });
});

describe("facts for listings", () => {
  const info: SessionInfo = {
    unfinished: true,
    waiting: false,
    counts: { messages: 0 },
    title: canary,
    metadata: { [canary]: canary },
  };

  test("are stored with only what listings select by, and are listed whole", async () => {
    const { store, inner } = memorySubject();
    await store.save(slot, writeOn(null, [], { info }));
    expect((await store.list({ unfinished: true })).slots).toMatchObject([{ slot, info }]);
    expect((await store.list({ waiting: true })).slots).toEqual([]);
    expect((await loadState(store, slot)).info).toEqual(info);
    const [listed] = (await inner.list()).slots;
    expect(listed?.info).toEqual({
      ...{ unfinished: true, waiting: false, counts: { messages: 0 } },
      sealed: expect.any(String),
    });
    expect(JSON.stringify(listed)).not.toContain(canary);
    const waits = { ...info, unfinished: false, waiting: true };
    await store.save(slot, writeOn(await loadState(store, slot), [], { info: waits }));
    expect((await store.list({ waiting: true })).slots).toMatchObject([{ slot, info: waits }]);
  });

  test("that do not open are left out, and hide no session", async () => {
    const { store, inner } = memorySubject();
    await store.save(slot, writeOn(null, [], { info }));
    await store.save(other, writeOn(null, [], { info: { title: "other" } }));
    const stolen = (await inner.list()).slots.map((listed) => listed.info);
    for (const [where, facts] of [
      [slot, stolen[0]],
      [other, { title: "in plain text", unfinished: true }],
    ] as const) {
      const stored = await loadState(inner, where);
      const { revision } = stored;
      await inner.save(where, writeOn(stored, [], { revision, info: facts }));
    }
    const { slots } = await store.list();
    expect(slots.map((listed) => [listed.slot, listed.info])).toEqual([
      [other, { unfinished: true }],
      [slot, {}],
    ]);
    const reading = withEncryption(inner, { ...freshOptions(), readPlaintext: true });
    const [first] = (await reading.list()).slots;
    expect(first?.info).toEqual({ title: "in plain text", unfinished: true });
  });
});
