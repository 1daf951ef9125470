import assert from "node:assert/strict";
import { assertRejects } from "../conformance/assert-rejects.js";
import { awaitedLater } from "../conformance/awaited-later.js";
import {
  type ConformanceCase,
  caseFactory,
  caseTimeoutMs,
  registerCases,
} from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";
import { assertNeverTwoHolders, exclusionCases } from "./exclusion-cases.js";
import type { GateCase, SessionGateOptions } from "./gate-case.js";
import { memoryCases } from "./memory-cases.js";
import { queueCases } from "./queue-cases.js";
import { validityCases } from "./validity-cases.js";

/** Registers the tests every `SessionGate` must pass. */
export function describeSessionGate(name: string, options: SessionGateOptions): void {
  registerCases(`${name} as a SessionGate`, sessionGateCases(options), options);
}

/** The cases of {@link describeSessionGate}. */
export function sessionGateCases(options: SessionGateOptions): ConformanceCase[] {
  const check = caseFactory(options);
  return [
    check("it names its contract", async (gate) => {
      assert.equal(gate.contract, 1);
      assert.ok(gate.kind.length > 0);
      assert.ok(["process", "host", "distributed"].includes(gate.reach));
    }),
    ...exclusionCases(check),
    ...queueCases(check),
    ...validityCases(check),
    ...memoryCases(check, options),
    ...(options.reopen === undefined ? [] : reopenCases(check, options)),
  ];
}

/** Two instances over the same data, as two processes would have. */
function reopenCases(
  check: GateCase,
  options: Pick<SessionGateOptions, "killHolder" | "stallHolder" | "timeoutMs">,
): ConformanceCase[] {
  const cases = [
    check(
      "a slot held through one instance is busy for the other until released",
      async (gate, reopen) => {
        const second = await reopen();
        const held = await gate.acquire(slot, { callId: "c-1" });
        const impatient = () => second.acquire(slot, { callId: "c-2", wait: false });
        await assertRejects(impatient, "SessionBusyError", "a slot held by the other instance");
        assert.deepStrictEqual(await second.calls(slot), ["c-1"]);
        const waiting = awaitedLater(second.acquire(slot, { callId: "c-3" }));
        await eventually(async () => (await gate.calls(slot)).length === 2);
        assert.deepStrictEqual(await gate.calls(slot), ["c-1", "c-3"]);
        await held.release();
        const lease = await waiting;
        assert.deepStrictEqual(await gate.calls(slot), ["c-3"]);
        await lease.release();
      },
    ),
    check("over two instances, too, there are never two holders", async (gate, reopen) => {
      await assertNeverTwoHolders([gate, await reopen()]);
    }),
  ];
  if (options.killHolder !== undefined)
    cases.push(
      check(
        "the lease of a holder that died ends by itself, and the next gets it",
        async (gate, reopen) => {
          const second = await reopen();
          const dead = await gate.acquire(slot, { callId: "c-1" });
          await options.killHolder?.(gate);
          const lease = await second.acquire(slot, { callId: "c-2" });
          assert.notEqual(lease.token, dead.token);
          assert.ok(dead.validUntil <= Date.now(), "granted before the dead holder's time was up");
          await lease.release();
        },
      ),
    );
  if (options.stallHolder !== undefined)
    cases.push(
      check(
        "a holder that stood still past its lease learns that it lost it, and takes nothing back",
        async (gate, reopen) => {
          const second = await reopen();
          const stalled = await gate.acquire(slot, { callId: "c-1" });
          const goOn = await options.stallHolder?.(gate);
          const lease = await second.acquire(slot, { callId: "c-2" });
          assert.ok(stalled.validUntil <= Date.now(), "granted before the stalled holder's time");
          goOn?.();
          const timeoutMs = caseTimeoutMs(options) / 2;
          await eventually(() => stalled.lost.aborted, { what: "the lost lease", timeoutMs });
          await stalled.release();
          assert.deepStrictEqual(await second.calls(slot), ["c-2"], "the slot stays the second's");
          assert.equal(lease.lost.aborted, false);
          await lease.release();
        },
      ),
    );
  return cases;
}
