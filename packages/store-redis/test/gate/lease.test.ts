import { LeaseLostError } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Gates, slot } from "./gates.js";

const gates = new Gates();
const leaseMs = 2_000;

test("a lease is kept for as long as its holder needs it", async () => {
  const gate = gates.open({ leaseMs });
  const lease = await gate.acquire(slot, { callId: "c-1" });
  const seen = new Set<number>();
  let last = leaseMs;
  // It has been renewed each time its time to live went up again.
  await eventually(async () => {
    const ttl = await gates.client.pttl(gates.key("lease"));
    if (ttl > last) seen.add(seen.size);
    last = ttl;
    return seen.size >= 5;
  });
  expect(lease.lost.aborted).toBe(false);
  await lease.release();
});

test("a lease that is another call's is lost, and giving it back takes nothing", async () => {
  const gate = gates.open({ leaseMs });
  const lease = await gate.acquire(slot, { callId: "c-1" });
  await gates.client.hset(gates.key("lease"), { token: "another", call: "c-2" });
  await eventually(() => lease.lost.aborted);
  expect(LeaseLostError.is(lease.lost.reason)).toBe(true);
  expect(String(lease.lost.reason)).toContain('session "session" of user "user"');
  await lease.release();
  expect(await gates.client.hget(gates.key("lease"), "token")).toBe("another");
});

test("a lease that a failover forgot is taken again while nobody waits", async () => {
  const gate = gates.open({ leaseMs });
  const lease = await gate.acquire(slot, { callId: "c-1" });
  await gates.client.del(gates.key("lease"));
  await eventually(
    async () => (await gates.client.hget(gates.key("lease"), "token")) === lease.token,
  );
  expect(await gate.calls(slot)).toEqual(["c-1"]);
  expect(lease.lost.aborted).toBe(false);
  await lease.release();
  expect(await gates.keys()).toEqual([]);
});

test("a lease that a failover forgot is lost when another call waits", async () => {
  const gate = gates.open({ leaseMs });
  const lease = await gate.acquire(slot, { callId: "c-1" });
  const waiting = gates.open({ leaseMs }).acquire(slot, { callId: "c-2" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  await gates.client.del(gates.key("lease"));
  const next = await waiting;
  await eventually(() => lease.lost.aborted);
  await lease.release();
  expect(await gate.calls(slot)).toEqual(["c-2"]);
  await next.release();
});

test("a holder that stood still for longer than its lease sees it at once, before its timers run", async () => {
  const gate = gates.open({ leaseMs });
  const lease = await gate.acquire(slot, { callId: "c-1" });
  expect(lease.lost.aborted).toBe(false);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
  expect(lease.lost.aborted).toBe(true);
  expect(LeaseLostError.is(lease.lost.reason)).toBe(true);
  await lease.release();
});

test("a lease that was given back in time does not count as lost later", async () => {
  const gate = gates.open({ leaseMs });
  const lease = await gate.acquire(slot, { callId: "c-1" });
  await lease.release();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
  expect(lease.lost.aborted).toBe(false);
});
