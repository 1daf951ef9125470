import assert from "node:assert/strict";
import { type InboxEntry, type Lease, MAX_INBOX_ENTRIES } from "@holdfast/core/store-kit";
import { assertRejects, rejectionOf } from "../conformance/assert-rejects.js";
import { awaitedLater } from "../conformance/awaited-later.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inboxEntry } from "../conformance/sample-entries.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { tamper } from "../conformance/tamper.js";
import { eventually } from "../crash/eventually.js";
import { gateOf } from "./fused-gate-cases.js";
import { assertInbox, inboxOf, numberedEntries } from "./inbox-cases.js";
import type { AgentStateStoreOptions, StoreCase } from "./store-case.js";

/** Stores whose gate puts an entry into the inbox in the step that grants the lease. */
export function fusedInboxCases(
  check: StoreCase,
  options: Pick<AgentStateStoreOptions, "endLease" | "reopen">,
): ConformanceCase[] {
  return [
    check("a lease brings the inbox along, its own entry last", async (store) => {
      const gate = gateOf(store);
      const empty = await gate.acquire(slot, { callId: "c-0" });
      assert.deepStrictEqual(empty.inbox, []);
      await empty.release();
      const [said, put] = [inboxEntry("said", { kind: "interrupt" }), inboxEntry("put")];
      await inboxOf(store).put(slot, said);
      const lease = await gate.acquire(slot, { callId: "c-1", put });
      assert.deepStrictEqual(lease.inbox, [said, put]);
      await assertInbox(store, [said, put]);
      tamper(lease.inbox);
      await lease.release();
      const next = await gate.acquire(slot, { callId: "c-2" });
      assert.deepStrictEqual(next.inbox, [said, put], "a release alone removes nothing");
      await next.release();
    }),
    check("the entry of a waiting call appears when it is granted", async (store) => {
      const gate = gateOf(store);
      const [first, second] = [inboxEntry("first"), inboxEntry("second")];
      const holder = await gate.acquire(slot, { callId: "c-1", put: first });
      const waiting = awaitedLater(gate.acquire(slot, { callId: "c-2", put: second }));
      await eventually(async () => (await gate.calls(slot)).length === 2);
      await assertInbox(store, [first]);
      await holder.release([first.id]);
      const lease = await waiting;
      assert.deepStrictEqual(lease.inbox, [second]);
      await assertInbox(store, [second]);
      await lease.release();
    }),
    check("a call that is refused or gives up leaves no entry", async (store) => {
      const gate = gateOf(store);
      const holder = await gate.acquire(slot, { callId: "c-1" });
      const impatient = () =>
        gate.acquire(slot, { callId: "c-2", put: inboxEntry("impatient"), wait: false });
      await assertRejects(impatient, "SessionBusyError", "a call that may not wait");
      const signal = AbortSignal.abort(new Error("too late"));
      const late = () => gate.acquire(slot, { callId: "c-3", put: inboxEntry("late"), signal });
      await rejectionOf(late, "an aborted call");
      const controller = new AbortController();
      const waiting = gate.acquire(slot, {
        callId: "c-4",
        put: inboxEntry("gives up"),
        signal: controller.signal,
      });
      const refused = awaitedLater(rejectionOf(() => waiting, "a call that gave up"));
      await eventually(async () => (await gate.calls(slot)).length === 2);
      controller.abort(new Error("gave up"));
      await refused;
      await holder.release();
      const next = await gate.acquire(slot, { callId: "c-5" });
      assert.deepStrictEqual(next.inbox, []);
      await next.release();
      await assertInbox(store, []);
    }),
    check("an entry that is in the inbox already is not put by a grant again", async (store) => {
      const gate = gateOf(store);
      const [put, after] = [inboxEntry("again"), inboxEntry("after")];
      const first = await gate.acquire(slot, { callId: "c-1", put });
      await inboxOf(store).put(slot, after);
      await first.release();
      const second = await gate.acquire(slot, { callId: "c-1", put });
      assert.deepStrictEqual(second.inbox, [put, after]);
      await second.release();
    }),
    check(
      "a call whose entry finds no room does not get the slot, the next does",
      async (store) => {
        const gate = gateOf(store);
        const entries = numberedEntries(MAX_INBOX_ENTRIES);
        for (const entry of entries) await inboxOf(store).put(slot, entry);
        const refused = () => gate.acquire(slot, { callId: "c-1", put: inboxEntry("no room") });
        await assertRejects(refused, "StateTooLargeError", "a call with an entry too many");
        // The refused call may still be leaving.
        const holder = await eventually(
          () => gate.acquire(slot, { callId: "c-2", wait: false }).catch(() => undefined),
          { timeoutMs: 10_000, what: "the slot of the refused call" },
        );
        const waiting = awaitedLater(rejectionOf(refused, "a waiting call with an entry too many"));
        await eventually(async () => (await gate.calls(slot)).length === 2);
        const next = awaitedLater(gate.acquire(slot, { callId: "c-3", put: entries[0] }));
        await eventually(async () => (await gate.calls(slot)).length === 3);
        await holder?.release();
        await assertRejects(
          () => waiting.then((error) => Promise.reject(error)),
          "StateTooLargeError",
          "a waiting call with an entry too many",
        );
        await (await next).release();
        await assertInbox(store, entries);
      },
    ),
    check("a release removes the entries it drops, a late one nothing", async (store) => {
      const gate = gateOf(store);
      const [kept, dropped, late] = [inboxEntry("a"), inboxEntry("b"), inboxEntry("c")];
      await inboxOf(store).put(slot, kept);
      const lease = await gate.acquire(slot, { callId: "c-1", put: dropped });
      await lease.release([dropped.id, "not there"]);
      await assertInbox(store, [kept]);
      const next = await gate.acquire(slot, { callId: "c-2", put: late });
      await lease.release([late.id, kept.id]);
      await assertInbox(store, [kept, late]);
      await next.release();
    }),
    ...(options.reopen === undefined ? [] : [acrossInstances(check)]),
    ...(options.endLease === undefined ? [] : [afterLostLease(check, options)]),
  ];
}

function acrossInstances(check: StoreCase): ConformanceCase {
  return check(
    "what one instance's call said reaches the next holder in another",
    async (...on) => {
      const [store, reopen] = on;
      const other = await reopen();
      const [first, second] = [inboxEntry("first"), inboxEntry("second")];
      const holder = await gateOf(store).acquire(slot, { callId: "c-1", put: first });
      const waiting = awaitedLater(gateOf(other).acquire(slot, { callId: "c-2", put: second }));
      await eventually(async () => (await gateOf(store).calls(slot)).length === 2);
      await assertInbox(other, [first]);
      await holder.release();
      const lease = await waiting;
      assert.deepStrictEqual(lease.inbox, [first, second]);
      await lease.release([first.id, second.id]);
      await assertInbox(store, []);
    },
  );
}

function afterLostLease(
  check: StoreCase,
  { endLease }: Pick<AgentStateStoreOptions, "endLease">,
): ConformanceCase {
  return check("what a call said outlives its lost lease", async (store) => {
    const put: InboxEntry = inboxEntry("outlives");
    const lost: Lease = await gateOf(store).acquire(slot, { callId: "c-1", put });
    await endLease?.(store, slot);
    const next = await gateOf(store).acquire(slot, { callId: "c-2" });
    assert.deepStrictEqual(next.inbox, [put]);
    await lost.release([put.id]);
    await assertInbox(store, [put]);
    await next.release();
  });
}
