import assert from "node:assert/strict";
import type { AgentStateStore, Slot } from "@holdfast/core";
import { type Lease, slotText } from "@holdfast/core/store-kit";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { inboxEntry } from "../conformance/sample-entries.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { gateOf } from "./fused-gate-cases.js";
import { assertInbox } from "./inbox-cases.js";
import { assertListed } from "./info-cases.js";
import { firstWrite, loadState } from "./state-writes.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

/** Sessions whose first call put its input and has saved nothing, in stores whose gate puts it with the grant. */
export function unsavedCases(
  check: StoreCase,
  options: Pick<AgentStateStoreOptions, "endLease" | "reopen">,
): ConformanceCase[] {
  return [
    check("a session is listed as unfinished from its first grant on", async (store) => {
      const put = inboxEntry("hello");
      const lease = await gateOf(store).acquire(slot, { callId: "c-1", put });
      await assertUnsaved(store);
      await lease.release();
      await assertUnsaved(store);
      const next = await gateOf(store).acquire(slot, { callId: "c-2" });
      assert.equal(next.loaded, null, "the state that comes with the lease");
      const took = { lease: next.token, takes: [put.id], release: true };
      await store.save(slot, firstWrite(slot, [], { ...took, info: { title: "saved" } }));
      await assertListed(store, { unfinished: true }, []);
      const { slots } = await store.list();
      assert.deepStrictEqual(
        slots.map(({ info }) => info),
        [{ title: "saved" }],
      );
    }),
    check(
      "a session is listed once, whether its first save took the input or not",
      async (store) => {
        const put = inboxEntry("hello");
        const lease = await gateOf(store).acquire(slot, { callId: "c-1", put });
        await store.save(slot, firstWrite(slot, [], { lease: lease.token }));
        await assertListed(store, {}, [slot]);
        await assertListed(store, { unfinished: true }, [slot]);
        await lease.release([put.id]);
        await assertListed(store, {}, [slot]);
        await assertListed(store, { unfinished: true }, []);
      },
    ),
    check("a first call that is taken back leaves no session in the listing", async (store) => {
      const [put, other] = [inboxEntry("taken back"), inboxEntry("another")];
      const lease = await gateOf(store).acquire(slot, { callId: "c-1", put });
      await lease.release([put.id]);
      await assertGone(store);
      const first = await gateOf(store).acquire(slot, { callId: "c-2", put });
      await first.release();
      const second = await gateOf(store).acquire(slot, { callId: "c-3", put: other });
      await second.release([put.id, other.id]);
      await assertGone(store);
    }),
    check("a call without input lists no session", async (store) => {
      const lease = await gateOf(store).acquire(slot, { callId: "c-1" });
      await assertGone(store);
      await lease.release();
      await assertGone(store);
    }),
    check("deleting a session that was never saved takes it from the listing", async (store) => {
      const lease = await gateOf(store).acquire(slot, { callId: "c-1", put: inboxEntry("hello") });
      await lease.release();
      await assertUnsaved(store);
      await store.delete(slot);
      await assertGone(store);
      await assertInbox(store, []);
      const again = await gateOf(store).acquire(slot, { callId: "c-2", put: inboxEntry("again") });
      await assertUnsaved(store);
      await again.release();
    }),
    check("a listing shows saved sessions and others, page by page", assertPages),
    check("a listing misses no session that is saved for the first time meanwhile", (store) =>
      assertStablePages(store),
    ),
    ...(options.reopen === undefined ? [] : [inAnotherInstance(check)]),
    ...(options.endLease === undefined ? [] : [afterLostLease(check, options)]),
  ];
}

async function assertPages(store: AgentStateStore): Promise<void> {
  const slots = numberedSlots(24);
  await inBatches(slots, 8, (each, index) => begin(store, each, index % 2 === 0));
  const unsaved = slots.filter((_, index) => index % 2 !== 0);
  for (const query of [{}, { agentId: "agent" }, { agentId: "agent", userId: "user" }]) {
    await assertListed(store, { ...query, limit: 5 }, slots);
    await assertListed(store, { ...query, limit: 5, unfinished: true }, unsaved);
  }
  await assertListed(store, { agentId: "other" }, []);
  await assertListed(store, { agentId: "agent", userId: null }, []);
}

async function assertStablePages(store: AgentStateStore): Promise<void> {
  const slots = numberedSlots(16);
  await inBatches(slots, 8, (each, index) => begin(store, each, index % 4 === 0));
  const seen: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = await store.list({ agentId: "agent", limit: 3, cursor });
    seen.push(...page.slots.map((listed) => slotText(listed.slot)));
    assert.ok(++pages <= 100, "a listing ends although sessions are saved");
    for (const each of slots.filter((one) => !seen.includes(slotText(one))).slice(0, 2))
      if ((await store.load(each)) === null) await store.save(each, firstWrite(each, []));
    cursor = page.cursor;
  } while (cursor !== undefined);
  for (const each of slots)
    assert.ok(seen.includes(slotText(each)), `${slotText(each)} was missed`);
}

function inAnotherInstance(check: StoreCase): ConformanceCase {
  return check("another instance lists a session that was never saved", async (store, reopen) => {
    const other = await reopen();
    const lease = await gateOf(store).acquire(slot, { callId: "c-1", put: inboxEntry("hello") });
    await assertUnsaved(other);
    await other.delete(slot);
    await assertGone(store);
    await lease.release();
    await assertGone(other);
  });
}

function afterLostLease(
  check: StoreCase,
  { endLease }: Pick<AgentStateStoreOptions, "endLease">,
): ConformanceCase {
  return check(
    "a session whose first call died is listed until the next saves it",
    async (store) => {
      const put = inboxEntry("outlives");
      const lost: Lease = await gateOf(store).acquire(slot, { callId: "c-1", put });
      await endLease?.(store, slot);
      await assertUnsaved(store);
      const next = await gateOf(store).acquire(slot, { callId: "c-2" });
      assert.deepStrictEqual(next.inbox, [put]);
      await lost.release([put.id]);
      await assertUnsaved(store);
      const write = { lease: next.token, takes: [put.id], info: { unfinished: false } };
      await store.save(slot, firstWrite(slot, [], { ...write, release: true }));
      await loadState(store, slot);
      await assertListed(store, { unfinished: true }, []);
      await assertListed(store, {}, [slot]);
    },
  );
}

/** Fails unless the sample session, which has no state, is the only one listed, as unfinished. */
async function assertUnsaved(store: AgentStateStore): Promise<void> {
  assert.equal(await store.load(slot), null, "the state of a session never saved");
  for (const query of [{}, { unfinished: true }]) {
    const { slots, cursor } = await store.list(query);
    assert.equal(cursor, undefined);
    assert.deepStrictEqual(
      slots.map(({ slot: each }) => slotText(each)),
      [slotText(slot)],
    );
    const [listed] = slots;
    assert.deepStrictEqual(listed?.info, { unfinished: true });
    assert.equal(listed?.messages ?? 0, 0);
    assert.ok(!Number.isNaN(Date.parse(listed?.updatedAt ?? "")), "updatedAt is a time");
  }
}

async function assertGone(store: AgentStateStore): Promise<void> {
  await assertListed(store, {}, []);
  await assertListed(store, { unfinished: true }, []);
}

/** Makes a session: saved, or with input alone. */
async function begin(store: AgentStateStore, owner: Slot, isSaved: boolean): Promise<void> {
  if (isSaved) {
    await store.save(owner, firstWrite(owner, []));
    return;
  }
  const put = inboxEntry(`input of ${owner.sessionId}`);
  const lease = await gateOf(store).acquire(owner, { callId: "c-1", put });
  await lease.release();
}

function numberedSlots(count: number): Slot[] {
  return Array.from({ length: count }, (_, index) => ({
    ...{ agentId: "agent", userId: "user", sessionId: `session-${index}` },
  }));
}
