import assert from "node:assert/strict";
import { awaitedLater } from "../conformance/awaited-later.js";
import type { ConformanceCase } from "../conformance/conformance-case.js";
import { sampleSlot as slot } from "../conformance/sample-slots.js";
import { eventually } from "../crash/eventually.js";
import type { GateCase } from "./gate-case.js";

/** Leases that say until when they hold. */
export function validityCases(check: GateCase): ConformanceCase[] {
  return [
    check("a held lease is valid into the future, and renewals move that on", async (gate) => {
      const lease = await gate.acquire(slot, { callId: "c-1" });
      const granted = lease.validUntil;
      assert.equal(typeof granted, "number");
      assert.ok(granted > Date.now(), "a lease holds beyond the moment it was granted");
      if (granted !== Number.POSITIVE_INFINITY) {
        await eventually(() => lease.validUntil > granted, { what: "a renewal of the lease" });
        assert.ok(lease.validUntil > Date.now());
        assert.equal(lease.lost.aborted, false);
      }
      await lease.release();
    }),
    check("a lease that was waited for is valid from its grant", async (gate) => {
      const first = await gate.acquire(slot, { callId: "c-1" });
      const waiting = awaitedLater(gate.acquire(slot, { callId: "c-2" }));
      await eventually(async () => (await gate.calls(slot)).length === 2);
      await first.release();
      const lease = await waiting;
      assert.ok(lease.validUntil > Date.now());
      await lease.release();
    }),
  ];
}
