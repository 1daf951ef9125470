import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  LeaseLostError,
  type Slot,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "../../../src/index.js";
import { type Lease, LeaseGate } from "../../../src/store-kit/index.js";
import { expectNoTimers } from "../no-timers.js";
import { LeaseServer, MemoryLeaseBackend } from "./memory-lease-backend.js";

const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };
const LEASE_MS = 30_000;

let server: LeaseServer;
let backend: MemoryLeaseBackend;
let gate: LeaseGate;
let lease: Lease;

beforeEach(async () => {
  vi.useFakeTimers();
  server = new LeaseServer();
  backend = new MemoryLeaseBackend(server, LEASE_MS);
  gate = new LeaseGate(backend);
  lease = await gate.acquire(slot, { callId: "c-1" });
});

afterEach(async () => {
  await expectNoTimers();
  expect(server.wakes.size).toBe(0);
  expect(gate.size).toBe(0);
  vi.useRealTimers();
});

const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const renewals = () => server.commands.filter((each) => each === "renew c-1").length;

/** Lets the wall clock go on by `ms` while timers and the monotonic clock stand still, as on a suspended machine. */
function suspendFor(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

test("heartbeats a third of the lease apart keep it, and validUntil moves on with them", async () => {
  const start = Date.now();
  expect(lease.validUntil).toBe(start + LEASE_MS);
  await passes(10 * LEASE_MS);
  expect(renewals()).toBe(30);
  expect(lease.lost.aborted).toBe(false);
  expect(lease.validUntil).toBe(start + 11 * LEASE_MS);
  await lease.release();
});

test("failed heartbeats are repeated until the lease is over", async () => {
  server.fail("renew", "before", new StoreUnavailableError("away"), 50);
  await passes(LEASE_MS);
  expect(lease.lost.aborted).toBe(false);
  await passes(LEASE_MS);
  expect(lease.lost.aborted).toBe(false);
  server.fail("renew", "before", new StoreUnavailableError("away"), 1_000);
  const before = lease.validUntil;
  await passes(before - Date.now() - 1);
  expect(lease.lost.aborted).toBe(false);
  await passes(1);
  expect(lease.lost.aborted).toBe(true);
  expect(LeaseLostError.is(lease.lost.reason)).toBe(true);
  expect(lease.lost.reason).toMatchObject({
    message: expect.stringContaining('session "session"'),
  });
});

test("a lease that is another claim's is lost at the next heartbeat", async () => {
  const { lost } = lease;
  backend.release(slot, lease.token);
  const other = new LeaseGate(backend);
  const next = await other.acquire(slot, { callId: "c-2" });
  await passes(LEASE_MS / 3);
  expect(LeaseLostError.is(lost.reason)).toBe(true);
  expect(lease.validUntil).toBe(0);
  await next.release();
});

test("a suspended machine learns from `lost` that its lease has run out, before any timer fires", async () => {
  suspendFor(LEASE_MS - 1);
  expect(lease.lost.aborted).toBe(false);
  expect(lease.validUntil).toBe(Date.now() + 1);
  suspendFor(1);
  expect(lease.lost.aborted).toBe(true);
  expect(renewals()).toBe(0);
});

test("a heartbeat after a suspension does not revive a lease that has run out", async () => {
  const { lost } = lease;
  suspendFor(LEASE_MS);
  await passes(LEASE_MS / 3);
  expect(lost.aborted).toBe(true);
  expect(renewals()).toBe(0);
});

test("a wall clock that is set back neither ends nor prolongs a lease", async () => {
  server.fail("renew", "before", new StoreUnavailableError("away"), 1_000);
  suspendFor(-2 * 3_600_000);
  expect(lease.lost.aborted).toBe(false);
  expect(lease.validUntil).toBe(Date.now() + LEASE_MS);
  await passes(LEASE_MS - 1);
  expect(lease.lost.aborted).toBe(false);
  await passes(1);
  expect(lease.lost.aborted).toBe(true);
});

test("an answer to a heartbeat counts from when the heartbeat was sent", async () => {
  let answer: () => void = () => {};
  server.renewals = new Promise((resolve) => {
    answer = resolve;
  });
  await passes(LEASE_MS / 3 + 500);
  answer();
  await passes(0);
  expect(lease.validUntil).toBe(Date.now() - 500 + LEASE_MS);
  await lease.release();
});

test("a wake-up renews at once", async () => {
  server.wakes.get(lease.token)?.();
  await passes(0);
  expect(renewals()).toBe(1);
  await lease.release();
});

test("a save that released the lease ends it without a round trip", async () => {
  await gate.whileReleasing(lease.token, async () => backend.release(slot, lease.token));
  await lease.release();
  expect(server.commands).toEqual(["enter c-1 queue"]);
  expect(lease.lost.aborted).toBe(false);
});

test("a heartbeat that crosses the save and takes the lease again gives it back", async () => {
  await gate.whileReleasing(lease.token, async () => {
    backend.release(slot, lease.token);
    await passes(LEASE_MS / 3);
    expect(await gate.calls(slot)).toEqual(["c-1"]);
  });
  await lease.release();
  expect(await gate.calls(slot)).toEqual([]);
  expect(lease.lost.aborted).toBe(false);
});

test("a heartbeat answered after the save is waited for before the lease is given back", async () => {
  let answer: () => void = () => {};
  server.renewals = new Promise((resolve) => {
    answer = resolve;
  });
  await passes(LEASE_MS / 3);
  backend.release(slot, lease.token);
  gate.wasReleased(lease.token, performance.now());
  const released = lease.release();
  expect(server.commands).not.toContain("leave c-1");
  answer();
  await released;
  expect(server.commands).toContain("leave c-1");
});

test("a heartbeat that finds the slot handed over by the save under way loses nothing", async () => {
  const { lost } = lease;
  const other = new LeaseGate(backend);
  const next = await gate.whileReleasing(lease.token, async () => {
    backend.release(slot, lease.token);
    const taken = await other.acquire(slot, { callId: "c-2" });
    await passes(LEASE_MS / 3);
    return taken;
  });
  expect(lost.aborted).toBe(false);
  await passes(0);
  expect(await gate.calls(slot)).toEqual(["c-2"]);
  await next.release();
});

test("a save that failed leaves the lease to its heartbeats; one with an unknown outcome to time", async () => {
  const failing = (error: Error) =>
    gate
      .whileReleasing(lease.token, async () => {
        throw error;
      })
      .catch((reason: unknown) => reason);
  const unknown = new UnknownOutcomeError("the answer was lost");
  expect(await failing(unknown)).toBe(unknown);
  backend.release(slot, lease.token);
  const next = await new LeaseGate(backend).acquire(slot, { callId: "c-2" });
  await passes(LEASE_MS - 1);
  expect(lease.lost.aborted).toBe(false);
  await passes(1);
  expect(lease.lost.aborted).toBe(true);
  await next.release();
});

test("a release that fails leaves the lease to run out", async () => {
  server.fail("leave", "before", new StoreUnavailableError("away"));
  await lease.release();
  expect(await gate.calls(slot)).toEqual(["c-1"]);
  await passes(LEASE_MS);
  expect(await gate.calls(slot)).toEqual([]);
});
