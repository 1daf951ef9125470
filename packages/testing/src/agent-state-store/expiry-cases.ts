import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentStateStore, DistributedStore } from "@holdfast/core";
import { assertRejects } from "../conformance/assert-rejects.js";
import { awaitedLater } from "../conformance/awaited-later.js";
import { type ConformanceCase, caseFactory } from "../conformance/conformance-case.js";
import { inboxEntry } from "../conformance/sample-entries.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { messageRecord } from "../conformance/sample-records.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { scaled } from "../conformance/scaled.js";
import { eventually } from "../crash/eventually.js";
import { firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { AgentStateStoreOptions, ExpiringStoreOptions } from "./store-case.js";

/** Far longer than a case takes on a busy machine. */
const HOUR_MS = 3_600_000;
/** Short enough to be waited for; cases that use it assert nothing that a slow machine could turn around. */
const SHORT_MS = 1_000;

/** Sessions that expire: when, what goes with them, and what keeps them. */
export function expiryCases(
  options: AgentStateStoreOptions,
  expiring: ExpiringStoreOptions,
): ConformanceCase[] {
  const { fuses = [], inbox = false, callRecords = false } = options;
  const withTtl = (ttlMs: number) =>
    caseFactory({ ...options, create: () => expiring.create(ttlMs) }, (store) => store.close());
  const check = withTtl(HOUR_MS);
  const pass = async (store: AgentStateStore, ms: number) => expiring.pass(store, slot, ms);

  async function assertAbsent(store: AgentStateStore): Promise<void> {
    assert.deepStrictEqual((await store.list()).slots, [], "an expired session is not listed");
    assert.equal(await store.load(slot), null, "an expired session is absent");
    if (inbox) assert.deepStrictEqual(await store.inbox?.read(slot), [], "its inbox is empty");
  }

  /** Everything that a store may keep of a session. */
  async function saveAll(store: AgentStateStore): Promise<void> {
    const drafts = [messageRecord("x".repeat(100_000)), messageRecord("short")];
    await store.save(slot, {
      ...firstWrite(slot, numberedMessages(3), { info: { title: "t", unfinished: true } }),
      ...(fuses.includes("log") && { log: drafts }),
      ...(callRecords && { callRecord: { record: { callId: "old" }, keep: 4 } }),
    });
    if (!fuses.includes("log")) await partsOf(store).log.append(slot, drafts);
    if (inbox) await store.inbox?.put(slot, inboxEntry("old"));
  }

  return [
    check("a session that was not used for ttlMs is absent, and listed no more", async (store) => {
      await saveAll(store);
      await pass(store, HOUR_MS * 0.9);
      assert.equal((await store.list()).slots.length, 1);
      await pass(store, HOUR_MS * 0.2);
      await assertAbsent(store);
      await assertAbsent(store);
    }),
    check("loading a session keeps it for another ttlMs", async (store) => {
      await saveAll(store);
      await pass(store, HOUR_MS * 0.6);
      const { revision } = await loadState(store, slot);
      await pass(store, HOUR_MS * 0.6);
      assert.notEqual(await store.load(slot, revision), null, "0.6 ttlMs after a load");
      await pass(store, HOUR_MS * 0.6);
      assert.equal((await loadState(store, slot)).messages.length, 3, "after a load by revision");
      assert.equal((await partsOf(store).log.read(slot)).length, 2, "its log");
      await pass(store, HOUR_MS * 1.1);
      await assertAbsent(store);
    }),
    check("saving a session keeps it for another ttlMs", async (store) => {
      await saveAll(store);
      const loaded = await loadState(store, slot);
      await pass(store, HOUR_MS * 0.6);
      await store.save(slot, nextWrite(loaded, numberedMessages(1)));
      await pass(store, HOUR_MS * 0.6);
      assert.equal((await loadState(store, slot)).messages.length, 4);
      assert.equal((await partsOf(store).log.read(slot)).length, 2, "its log");
    }),
    check("a call on a session keeps it for another ttlMs, also without a save", async (store) => {
      await saveAll(store);
      await pass(store, HOUR_MS * 0.6);
      const lease = await partsOf(store).gate.acquire(slot, { callId: "c-1" });
      await lease.release();
      await pass(store, HOUR_MS * 0.6);
      assert.equal((await loadState(store, slot)).messages.length, 3);
    }),
    check("the last revision of an expired session cannot be saved", async (store) => {
      await saveAll(store);
      const loaded = await loadState(store, slot);
      await pass(store, HOUR_MS * 1.1);
      const late = nextWrite(loaded, numberedMessages(1));
      await assertRejects(() => store.save(slot, late), "StateConflictError", "a late save");
      await assertAbsent(store);
    }),
    check("a session begun after another expired has nothing of it", async (store) => {
      await saveAll(store);
      await pass(store, HOUR_MS * 1.1);
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      await assertNew(store, 1);
    }),
    check("a call after a session expired begins a new one", async (store) => {
      await saveAll(store);
      await pass(store, HOUR_MS * 1.1);
      const { gate } = partsOf(store);
      const lease = await gate.acquire(slot, { callId: "c-2" });
      if (fuses.includes("gate")) {
        assert.equal(lease.loaded, null, "the lease brings no expired state");
        assert.deepStrictEqual(lease.inbox ?? [], [], "nor its inbox");
      }
      const fused = fuses.includes("gate") ? { lease: lease.token, release: true } : {};
      await store.save(slot, firstWrite(slot, numberedMessages(2), fused));
      await lease.release();
      await assertNew(store, 2);
    }),
    withTtl(SHORT_MS)(
      "a session whose call runs does not expire, and does after it",
      async (store) => {
        const { gate } = partsOf(store);
        await saveAll(store);
        // Taken anew when a slow machine let it expire before the call began.
        let lease = await gate.acquire(slot, { callId: "c-1" });
        while ((await store.load(slot)) === null) {
          await lease.release();
          await saveAll(store);
          lease = await gate.acquire(slot, { callId: "c-1" });
        }
        const waiting = awaitedLater(gate.acquire(slot, { callId: "c-2" }));
        for (let time = 0; time < scaled(2, 3); time++) {
          if (expiring.hasClock) await pass(store, SHORT_MS * 2);
          else await sleep(SHORT_MS * 2);
          assert.equal((await store.list()).slots.length, 1, "listed while its call runs");
          assert.equal((await loadState(store, slot)).messages.length, 3, "while its call runs");
          assert.equal((await partsOf(store).log.read(slot)).length, 2, "its log");
          if (inbox) assert.equal((await store.inbox?.read(slot))?.length, 1, "its inbox");
        }
        await lease.release();
        await (await waiting).release();
        if (expiring.hasClock) await pass(store, SHORT_MS * 2);
        await eventually(async () => (await store.list()).slots.length === 0);
        await assertAbsent(store);
      },
    ),
    withTtl(SHORT_MS)(
      "the log of an expired session is removed in the background",
      async (store) => {
        await saveAll(store);
        const { log } = partsOf(store);
        if (expiring.hasClock) await pass(store, SHORT_MS * 2);
        const what = "an expired session's log is removed";
        await eventually(async () => (await log.read(slot)).length === 0, { what });
        await eventually(async () => (await store.list()).slots.length === 0);
        const { agentId, userId } = slot;
        if (userId !== null)
          assert.deepStrictEqual((await log.sessions({ agentId, userId })).sessions, []);
        await assertAbsent(store);
      },
    ),
  ];

  async function assertNew(store: AgentStateStore, messages: number): Promise<void> {
    const loaded = await loadState(store, slot);
    assert.equal(loaded.messages.length, messages);
    assert.deepStrictEqual(loaded.callRecords ?? [], [], "call records");
    const [listed, ...more] = (await store.list()).slots;
    assert.equal(more.length, 0);
    assert.equal(listed?.info?.title, undefined, "facts for listings");
    assert.deepStrictEqual(await partsOf(store).log.read(slot), [], "the log");
    if (inbox) assert.deepStrictEqual(await store.inbox?.read(slot), [], "the inbox");
  }
}

function partsOf(store: AgentStateStore): DistributedStore {
  assert.ok(store.companions, "a store whose sessions expire has companions, which expire with it");
  return store.companions();
}
