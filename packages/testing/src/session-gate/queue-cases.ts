import assert from "node:assert/strict";
import type { SessionGate } from "@holdfast/core";
import { assertRejects, rejectionOf } from "../conformance/assert-rejects.js";
import { awaitedLater } from "../conformance/awaited-later.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";
import type { GateCase } from "./gate-case.js";

/** Waiting, and leaving the queue. */
export function queueCases(check: GateCase): ConformanceCase[] {
  return [
    check("calls names the running call, then those that wait, in order", async (gate) => {
      assert.deepStrictEqual(await gate.calls(slot), []);
      const first = await gate.acquire(slot, { callId: "c-1" });
      assert.deepStrictEqual(await gate.calls(slot), ["c-1"]);
      const second = awaitedLater(gate.acquire(slot, { callId: "c-2" }));
      await settled(gate, ["c-1", "c-2"]);
      const third = awaitedLater(gate.acquire(slot, { callId: "c-3" }));
      await settled(gate, ["c-1", "c-2", "c-3"]);
      await first.release();
      const lease = await second;
      assert.deepStrictEqual(await gate.calls(slot), ["c-2", "c-3"]);
      await lease.release();
      await (await third).release();
      assert.deepStrictEqual(await gate.calls(slot), []);
    }),
    check("a call that may not wait is refused while the slot is busy", async (gate) => {
      const first = await gate.acquire(slot, { callId: "c-1", wait: false });
      const impatient = () => gate.acquire(slot, { callId: "c-2", wait: false });
      await assertRejects(impatient, "SessionBusyError", "a call that may not wait");
      assert.deepStrictEqual(await gate.calls(slot), ["c-1"], "it left nothing behind");
      await first.release();
      await (await impatient()).release();
    }),
    check("a full queue refuses the next call", async (gate) => {
      const first = await gate.acquire(slot, { callId: "c-1" });
      const second = awaitedLater(gate.acquire(slot, { callId: "c-2", maxQueue: 2 }));
      await settled(gate, ["c-1", "c-2"]);
      const third = awaitedLater(gate.acquire(slot, { callId: "c-3", maxQueue: 2 }));
      await settled(gate, ["c-1", "c-2", "c-3"]);
      const fourth = () => gate.acquire(slot, { callId: "c-4", maxQueue: 2 });
      await assertRejects(fourth, "SessionBusyError", "a call beyond maxQueue");
      await first.release();
      await (await second).release();
      await (await third).release();
      await (await gate.acquire(slot, { callId: "c-5", maxQueue: 0 })).release();
    }),
    check(
      "a call that waits is told how many are before it, one that does not is not",
      async (gate) => {
        const told: [string, number][] = [];
        const acquire = (callId: string) =>
          gate.acquire(slot, { callId, onWait: (ahead) => void told.push([callId, ahead]) });
        const first = await acquire("c-1");
        const second = awaitedLater(acquire("c-2"));
        await eventually(() => told.length === 1, { what: "the second call being told" });
        const third = awaitedLater(acquire("c-3"));
        await eventually(() => told.length === 2, { what: "the third call being told" });
        await first.release();
        await (await second).release();
        await (await third).release();
        assert.deepStrictEqual(told, [
          ["c-2", 1],
          ["c-3", 2],
        ]);
      },
    ),
    check(
      "a call that gives up waiting leaves cleanly, and the next gets its turn",
      async (gate) => {
        const controller = new AbortController();
        const reason = new Error("gave up");
        const first = await gate.acquire(slot, { callId: "c-1" });
        const second = gate.acquire(slot, { callId: "c-2", signal: controller.signal });
        const refused = awaitedLater(rejectionOf(() => second, "a call that gave up"));
        await settled(gate, ["c-1", "c-2"]);
        const third = awaitedLater(gate.acquire(slot, { callId: "c-3" }));
        await settled(gate, ["c-1", "c-2", "c-3"]);
        controller.abort(reason);
        assert.equal(await refused, reason, "acquire rejects with the signal's reason");
        await settled(gate, ["c-1", "c-3"]);
        await first.release();
        await (await third).release();
        assert.deepStrictEqual(await gate.calls(slot), []);
      },
    ),
    check("when all waiting calls give up, the slot is free after its holder", async (gate) => {
      const controller = new AbortController();
      const first = await gate.acquire(slot, { callId: "c-1" });
      const waiting = ["c-2", "c-3"].map((callId) => {
        const lease = gate.acquire(slot, { callId, signal: controller.signal });
        return awaitedLater(rejectionOf(() => lease, "a call that gave up"));
      });
      await eventually(async () => (await gate.calls(slot)).length === 3);
      controller.abort();
      await Promise.all(waiting);
      await first.release();
      await settled(gate, []);
      await (await gate.acquire(slot, { callId: "c-4", wait: false })).release();
    }),
    check(
      "a signal that aborted before gets nothing, one that aborts later takes nothing",
      async (gate) => {
        const signal = AbortSignal.abort("too late");
        const aborted = () => gate.acquire(slot, { callId: "c-1", signal });
        assert.equal(await rejectionOf(aborted, "an aborted call"), "too late");
        assert.deepStrictEqual(await gate.calls(slot), []);

        const controller = new AbortController();
        const lease = await gate.acquire(slot, { callId: "c-2", signal: controller.signal });
        controller.abort();
        const impatient = () => gate.acquire(slot, { callId: "c-3", wait: false });
        await assertRejects(impatient, "SessionBusyError", "the lease outlives its signal");
        await lease.release();
      },
    ),
  ];
}

/** Waits until the calls on the slot are these: joining a queue on a server takes a moment. */
async function settled(gate: SessionGate, calls: readonly string[]): Promise<void> {
  const what = `calls being ${JSON.stringify(calls)}`;
  await eventually(
    async () => {
      assert.deepStrictEqual(await gate.calls(slot), calls);
      return true;
    },
    { what },
  );
}
