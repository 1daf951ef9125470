import assert from "node:assert/strict";
import type { AgentStateStore, SessionGate } from "@holdfast/core";
import { isWhole, type Lease } from "@holdfast/core/store-kit";
import { assertRejects } from "../conformance/assert-rejects.js";
import { awaitedLater } from "../conformance/awaited-later.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { numberedMessages } from "../conformance/sample-messages.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";
import { assertStored, firstWrite, loadState, nextWrite } from "./state-writes.js";
import type { StoreCase } from "./store-case.js";

/** Stores that load with the lease and release it with the save. */
export function fusedGateCases(check: StoreCase): ConformanceCase[] {
  return [
    check(
      "a lease brings the state along, or says that the known one is current",
      async (store) => {
        const gate = gateOf(store);
        const fresh = await gate.acquire(slot, { callId: "c-1" });
        assert.equal(fresh.loaded, null, "nothing is stored yet");
        const write = firstWrite(slot, numberedMessages(2), { lease: fresh.token, release: true });
        const revision = await store.save(slot, write);

        const second = await gate.acquire(slot, { callId: "c-2" });
        assertLoaded(second.loaded, revision, 2);
        await second.release();

        const third = await gate.acquire(slot, { callId: "c-3", known: () => revision });
        if (third.loaded !== "unchanged") assertLoaded(third.loaded, revision, 2);
        await third.release();

        const other = `1.${"0".repeat(32)}`;
        const fourth = await gate.acquire(slot, { callId: "c-4", known: () => other });
        assertLoaded(fourth.loaded, revision, 2);
        await fourth.release();
      },
    ),
    check(
      "a save that releases lets the next in the queue go on with the new state",
      async (store) => {
        const gate = gateOf(store);
        const first = await gate.acquire(slot, { callId: "c-1" });
        const second = awaitedLater(gate.acquire(slot, { callId: "c-2" }));
        const write = firstWrite(slot, numberedMessages(3), { lease: first.token, release: true });
        const revision = await store.save(slot, write);
        const lease = await second;
        assertLoaded(lease.loaded, revision, 3);
        assert.equal(first.lost.aborted, false, "a released lease was not lost");

        await first.release();
        await assertBusy(gate, "the first holder's late release must not free the second's lease");
        await lease.release();
      },
    ),
    check("the known revision is asked for when the turn comes, not before", async (store) => {
      const gate = gateOf(store);
      let isAskedInTime = false;
      // A gate that looks again and again may have asked just before; one that asks only when the call queues never does in time.
      for (let round = 1; !isAskedInTime && round <= 5; round++) {
        const session = { ...slot, sessionId: `${slot.sessionId}-${round}` };
        const first = await gate.acquire(session, { callId: "c-1" });
        let cached: string | undefined;
        const known = (): string | undefined => {
          isAskedInTime = cached !== undefined;
          return cached;
        };
        const second = awaitedLater(gate.acquire(session, { callId: "c-2", known }));
        await eventually(async () => (await gate.calls(session)).length === 2);
        const write = firstWrite(session, numberedMessages(1), { lease: first.token });
        cached = await store.save(session, write);
        await first.release();
        await (await second).release();
      }
      assert.ok(isAskedInTime, "asked after the call before it saved");
    }),
    check("a save under a lease without release keeps it", async (store) => {
      const gate = gateOf(store);
      const lease = await gate.acquire(slot, { callId: "c-1" });
      await store.save(slot, firstWrite(slot, numberedMessages(1), { lease: lease.token }));
      await assertBusy(gate, "a step save must keep the lease");
      const next = nextWrite(await loadState(store, slot), [], { lease: lease.token });
      await store.save(slot, next);
      await lease.release();
      await (await gate.acquire(slot, { callId: "c-2", wait: false })).release();
    }),
    check("a save under a lease that ended is refused and writes nothing", async (store) => {
      const gate = gateOf(store);
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const stored = await loadState(store, slot);
      const old = await gate.acquire(slot, { callId: "c-1" });
      await old.release();
      const refuse = async (token: string): Promise<void> => {
        const write = nextWrite(stored, numberedMessages(1), { lease: token, release: true });
        await assertRejects(() => store.save(slot, write), "LeaseLostError", "a stale lease");
        await assertStored(store, slot, stored);
      };
      await refuse(old.token);
      const current = await gate.acquire(slot, { callId: "c-2" });
      await refuse(old.token);
      await refuse("made up");
      await assertBusy(gate, "a refused save must not release the holder's lease");
      const good = nextWrite(stored, numberedMessages(1), { lease: current.token, release: true });
      await store.save(slot, good);
    }),
    check("a save that conflicts keeps its lease", async (store) => {
      const gate = gateOf(store);
      await store.save(slot, firstWrite(slot, numberedMessages(1)));
      const stored = await loadState(store, slot);
      const lease = await gate.acquire(slot, { callId: "c-1" });
      const fields = { expected: null, lease: lease.token, release: true };
      const stale = nextWrite(stored, numberedMessages(1), fields);
      await assertRejects(() => store.save(slot, stale), "StateConflictError", "a stale save");
      await assertStored(store, slot, stored);
      await assertBusy(gate, "the conflict must leave the lease with its holder");
      await lease.release();
      await (await gate.acquire(slot, { callId: "c-2", wait: false })).release();
    }),
    check(
      "a repeated save is recognised although its lease was released with it",
      async (store) => {
        const gate = gateOf(store);
        const lease = await gate.acquire(slot, { callId: "c-1" });
        const fields = { lease: lease.token, release: true };
        const write = firstWrite(slot, numberedMessages(1), fields);
        const revision = await store.save(slot, write);
        assert.equal(await store.save(slot, write), revision);
        const next = await gate.acquire(slot, { callId: "c-2" });
        assert.equal(await store.save(slot, write), revision);
        await assertBusy(gate, "a repeated save must not release the next holder's lease");
        await next.release();
      },
    ),
  ];
}

/** The gate that a store fuses; fails when it fuses none. */
export function gateOf(store: AgentStateStore): SessionGate {
  const gate = store.fuses?.gate;
  assert.ok(gate !== undefined, "options.fuses names the gate, the store's fuses does not");
  return gate;
}

async function assertBusy(gate: SessionGate, what: string): Promise<void> {
  const acquire = () => gate.acquire(slot, { callId: "impatient", wait: false });
  await assertRejects(acquire, "SessionBusyError", `${what}: another acquire`);
}

function assertLoaded(loaded: Lease["loaded"], revision: string, messages: number): void {
  assert.ok(
    loaded !== undefined && isWhole(loaded),
    `the lease must bring the state, it brought ${JSON.stringify(loaded)}`,
  );
  assert.equal(loaded.revision, revision);
  assert.equal(loaded.messages.length, messages);
}
