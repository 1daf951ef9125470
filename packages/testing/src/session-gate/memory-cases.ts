import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { SessionGate } from "@holdfast/core";
import type { AcquireRequest } from "@holdfast/core/store-kit";
import { rejectionOf } from "../conformance/assert-rejects.js";
import { awaitedLater } from "../conformance/awaited-later.js";
import { type ConformanceCase, caseTimeoutMs } from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";
import type { GateCase, SessionGateOptions } from "./gate-case.js";

/** Calls that have finished take no memory. */
export function memoryCases(
  check: GateCase,
  options: Pick<SessionGateOptions, "timeoutMs">,
): ConformanceCase[] {
  return [
    check("calls that waited leave nothing behind in memory", async (gate) => {
      const requests = await finishedCalls(gate);
      const collect = garbageCollector();
      await eventually(
        () => {
          collect();
          return requests.every((request) => request.deref() === undefined);
        },
        {
          what: "the requests of finished calls being collected",
          timeoutMs: caseTimeoutMs(options) / 2,
        },
      );
      assert.deepStrictEqual(await gate.calls(slot), []);
    }),
  ];
}

/** Has one call hold the slot while others wait; half of them give up. Returns weak references to what they asked with. */
async function finishedCalls(gate: SessionGate): Promise<WeakRef<AcquireRequest>[]> {
  const first = await gate.acquire(slot, { callId: "first" });
  const controller = new AbortController();
  const { signal } = controller;
  const waiting: Promise<unknown>[] = [];
  const requests: WeakRef<AcquireRequest>[] = [];
  for (let index = 0; index < 6; index++) {
    const isPatient = index % 2 === 0;
    const request = { callId: `c-${index}`, onWait: () => {}, ...(!isPatient && { signal }) };
    requests.push(new WeakRef<AcquireRequest>(request));
    const lease = gate.acquire(slot, request);
    const finished = isPatient
      ? lease.then((granted) => granted.release())
      : rejectionOf(() => lease, "a call that gave up");
    waiting.push(awaitedLater(finished));
  }
  await eventually(async () => (await gate.calls(slot)).length === 7);
  controller.abort();
  await first.release();
  await Promise.all(waiting);
  return requests;
}

/** Returns the garbage collector, which a program usually cannot call. */
function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
