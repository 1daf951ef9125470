import assert from "node:assert/strict";
import type { SessionGate, Slot } from "@holdfast/core";
import { type Lease, slotText } from "@holdfast/core/store-kit";
import fc from "fast-check";
import { assertRejects } from "../conformance/assert-rejects.js";
import { awaitedLater } from "../conformance/awaited-later.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { inBatches } from "../conformance/in-batches.js";
import { badSlots, nastySlots, sampleSlot as slot } from "../conformance/sample-slots.js";
import { scaled } from "../conformance/scaled.js";
import { eventually } from "../crash/eventually.js";
import { type GateCase, yieldToOthers } from "./gate-case.js";

/** One holder at a time, in order. */
export function exclusionCases(check: GateCase): ConformanceCase[] {
  return [
    check("40 calls on a slot run one at a time, first come, first served", async (gate) => {
      const order: number[] = [];
      let holders = 0;
      const call = async (index: number): Promise<void> => {
        const lease = await gate.acquire(slot, { callId: `c-${index}` });
        assert.equal(++holders, 1, "one holder at a time");
        order.push(index);
        await yieldToOthers(3);
        assert.equal(lease.lost.aborted, false);
        holders--;
        await lease.release();
      };
      const indexes = Array.from({ length: 40 }, (_, index) => index);
      await Promise.all(indexes.map(call));
      assert.deepStrictEqual(order, indexes);
      assert.deepStrictEqual(await gate.calls(slot), []);
    }),
    check("different slots never wait for each other, whatever their ids", async (gate) => {
      const slots = nastySlots();
      const leases = await inBatches(slots, 16, (each) =>
        gate.acquire(each, { callId: slotText(each), wait: false }),
      );
      await inBatches(slots, 16, async (each) =>
        assert.deepStrictEqual(await gate.calls(each), [slotText(each)]),
      );
      await inBatches(leases, 16, (lease) => lease.release());
    }),
    check("every lease has a token of its own", async (gate) => {
      const tokens = new Set<string>();
      for (let index = 0; index < 10; index++) {
        const lease = await gate.acquire(slot, { callId: "same" });
        tokens.add(lease.token);
        await lease.release();
      }
      assert.equal(tokens.size, 10);
    }),
    check("releasing twice, or long after, takes nothing from the next holder", async (gate) => {
      const first = await gate.acquire(slot, { callId: "c-1" });
      const waiting = awaitedLater(gate.acquire(slot, { callId: "c-2" }));
      await first.release();
      const second = await waiting;
      await Promise.all([first.release(), first.release()]);
      const impatient = () => gate.acquire(slot, { callId: "c-3", wait: false });
      await assertRejects(impatient, "SessionBusyError", "the second call holds the slot");
      await second.release();
      await (await impatient()).release();
    }),
    check("in any order of arrival there are never two holders", async (gate) => {
      await assertNeverTwoHolders([gate]);
    }),
    check("what is not an id is refused", async (gate) => {
      for (const [what, bad] of badSlots()) {
        const acquire = () => gate.acquire(bad, { callId: "c" });
        await assertRejects(acquire, "InvalidIdError", `acquire with ${what}`);
        await assertRejects(() => gate.calls(bad), "InvalidIdError", `calls with ${what}`);
      }
    }),
  ];
}

/** Random calls over `gates`, some giving up while they wait; fails when two hold a slot at once or one never ends. */
export async function assertNeverTwoHolders(gates: readonly SessionGate[]): Promise<void> {
  const call = fc.record({
    gate: fc.nat({ max: gates.length - 1 }),
    slot: fc.nat({ max: 1 }),
    startsAfter: fc.nat({ max: 6 }),
    holdsFor: fc.nat({ max: 4 }),
    givesUpAfter: fc.option(fc.nat({ max: 6 })),
  });
  let run = 0;
  const property = fc.asyncProperty(fc.array(call, { maxLength: 12 }), async (calls) => {
    const prefix = `run-${run++}`;
    const holding = new Map<string, string>();
    await Promise.all(
      calls.map(async ({ gate, slot: which, startsAfter, holdsFor, givesUpAfter }, index) => {
        const where: Slot = { ...slot, sessionId: `${prefix}-${which}` };
        const controller = new AbortController();
        await yieldToOthers(startsAfter);
        if (givesUpAfter !== null)
          void yieldToOthers(givesUpAfter).then(() => controller.abort(givingUp));
        const request = { callId: `c-${index}`, signal: controller.signal };
        const lease = await (gates[gate] as SessionGate)
          .acquire(where, request)
          .catch((error: unknown): null => {
            assert.equal(error, givingUp, "acquire may only fail by giving up");
            return null;
          });
        if (lease !== null) await hold(lease, where, holding, holdsFor);
      }),
    );
    for (const gate of gates)
      for (const which of [0, 1])
        await eventually(
          async () => (await gate.calls({ ...slot, sessionId: `${prefix}-${which}` })).length === 0,
          { what: "nothing being left behind" },
        );
  });
  await fc.assert(property, { numRuns: scaled(12, 500) });
}

const givingUp = new Error("gave up waiting");

async function hold(
  lease: Lease,
  where: Slot,
  holding: Map<string, string>,
  yields: number,
): Promise<void> {
  const key = slotText(where);
  assert.equal(holding.get(key), undefined, "one holder at a time");
  holding.set(key, lease.token);
  await yieldToOthers(yields);
  assert.equal(holding.get(key), lease.token);
  holding.delete(key);
  await lease.release();
}
