import { randomUUID } from "node:crypto";
import { LeaseLostError } from "@holdfast/core";
import { expect, inject, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { underLease } from "../../src/transfer/under-lease.js";

const slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** The process stands still: not even its timers run. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test.for(["redisUrl", "mysqlUrl"] as const)(
  "who stood still for longer than the lease notices before the next write, %s",
  async (server) => {
    const prefix = `clock${randomUUID().slice(0, 8)}_`;
    const opened = await openStore(`${inject(server)}?prefix=${prefix}&leaseMs=2000`);
    try {
      // Making tables takes its time, which would count.
      await opened.parts.stateStore.load(slot);
      await underLease(opened.parts, slot, { waitMs: 0, holder: "test" }, async (lease) => {
        lease.check();
        expect(await lease.isHeld()).toBe(true);
        standStill(2_500);
        expect(() => lease.check()).toThrow(LeaseLostError);
        expect(await lease.isHeld()).toBe(false);
      });
    } finally {
      await opened.close();
    }
  },
);
