import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  LeaseLostError,
  SessionBusyError,
  type Slot,
  StateTooLargeError,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "../../../src/index.js";
import { LeaseGate } from "../../../src/store-kit/index.js";
import { expectNoTimers } from "../no-timers.js";
import { LeaseServer, MemoryLeaseBackend } from "./memory-lease-backend.js";

const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };
const LEASE_MS = 30_000;

let server: LeaseServer;
let backend: MemoryLeaseBackend;
let gate: LeaseGate;

beforeEach(() => {
  vi.useFakeTimers();
  server = new LeaseServer();
  backend = new MemoryLeaseBackend(server, LEASE_MS);
  gate = new LeaseGate(backend);
});

afterEach(async () => {
  await expectNoTimers();
  expect(server.wakes.size).toBe(0);
  expect(gate.size).toBe(0);
  vi.useRealTimers();
});

const acquire = (callId: string, more: object = {}) => gate.acquire(slot, { callId, ...more });
const failure = (promise: Promise<unknown>) => promise.catch((reason: unknown) => reason);
const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("calls queue first come, first served, and each is woken when its turn comes", async () => {
  const first = await acquire("c-1");
  const waiting = ["c-2", "c-3", "c-4"].map((callId) => acquire(callId));
  await passes(0);
  expect(await gate.calls(slot)).toEqual(["c-1", "c-2", "c-3", "c-4"]);
  expect(gate.size).toBe(4);
  await first.release();
  for (const lease of waiting) await (await lease).release();
  expect(await gate.calls(slot)).toEqual([]);
  // Woken: nobody had to ask in between.
  expect(server.commands.filter((each) => each.startsWith("enter"))).toHaveLength(4 + 3);
});

test("a waiter whose wake-up is lost asks when the claim before it may be gone", async () => {
  server.isWaking = false;
  const first = await acquire("c-1");
  const waiting = acquire("c-2");
  await passes(0);
  await first.release();
  await passes(LEASE_MS / 3 + 1);
  await (await waiting).release();
});

test("a waiter keeps its place by asking a third of the lease apart", async () => {
  const first = await acquire("c-1");
  const waiting = acquire("c-2");
  await passes(2 * LEASE_MS);
  expect(await gate.calls(slot)).toEqual(["c-1", "c-2"]);
  const asked = server.commands.filter((each) => each === "enter c-2 again");
  expect(asked).toHaveLength(6);
  await first.release();
  await (await waiting).release();
});

test("a waiter is told once how many are ahead", async () => {
  const told: number[] = [];
  const first = await acquire("c-1");
  const second = acquire("c-2", { onWait: (ahead: number) => told.push(ahead) });
  await passes(LEASE_MS);
  expect(told).toEqual([1]);
  await first.release();
  await (await second).release();
});

test("an onWait that throws takes the call out of the queue", async () => {
  const first = await acquire("c-1");
  const error = new Error("of the caller");
  const second = acquire("c-2", {
    onWait: () => {
      throw error;
    },
  });
  expect(await failure(second)).toBe(error);
  await passes(0);
  expect(await gate.calls(slot)).toEqual(["c-1"]);
  await first.release();
});

test("a call that may not wait and one beyond maxQueue are refused and leave nothing", async () => {
  const first = await acquire("c-1");
  const impatient = await failure(acquire("c-2", { wait: false }));
  const crowded = await failure(acquire("c-3", { maxQueue: 0 }));
  expect(SessionBusyError.is(impatient) && SessionBusyError.is(crowded)).toBe(true);
  expect(impatient).toMatchObject({ message: expect.stringContaining("this call may not wait") });
  expect(crowded).toMatchObject({ message: expect.stringContaining("at most 0 may wait") });
  expect(await gate.calls(slot)).toEqual(["c-1"]);
  await first.release();
});

test("a waiter that aborts is out at once, with its inbox entry", async () => {
  const first = await acquire("c-1");
  const controller = new AbortController();
  const put = { id: "e-2", kind: "input", callId: "c-2", at: "", body: {} };
  const second = failure(acquire("c-2", { signal: controller.signal, put }));
  await passes(0);
  controller.abort("recalled");
  expect(await second).toBe("recalled");
  await passes(0);
  expect(await gate.calls(slot)).toEqual(["c-1"]);
  expect(server.dropped).toEqual(["e-2"]);
  await first.release();
});

test("an abort while the grant is under way gives the lease back", async () => {
  const controller = new AbortController();
  const call = failure(acquire("c-1", { signal: controller.signal }));
  controller.abort("recalled");
  expect(await call).toBe("recalled");
  await passes(0);
  expect(server.slots.size).toBe(0);
});

test("release drops inbox entries in its own step, and is sent once", async () => {
  const put = { id: "e-1", kind: "input", callId: "c-1", at: "", body: {} };
  const lease = await acquire("c-1", { put });
  expect(lease.inbox).toEqual([put]);
  await Promise.all([lease.release(["e-1"]), lease.release(["e-1"])]);
  expect(server.dropped).toEqual(["e-1"]);
});

test("a claim whose outcome is unknown is repeated under the same token", async () => {
  server.fail("enter", "after", new UnknownOutcomeError("the answer was lost"));
  const lease = acquire("c-1", { wait: false });
  await passes(200);
  await (await lease).release();
  expect(server.slots.size).toBe(0);
  expect(server.commands).toEqual(["enter c-1 refuse", "enter c-1 refuse", "leave c-1"]);
});

test("a claim whose outcome stays unknown is refused within the command timeout, and withdrawn", async () => {
  server.fail("enter", "after", new UnknownOutcomeError("the answer was lost"), 100);
  const refused = failure(acquire("c-1"));
  await passes(backend.commandTimeoutMs);
  const error = await refused;
  expect(StoreUnavailableError.is(error)).toBe(true);
  expect(error).toMatchObject({
    message: expect.stringMatching(/^queueing for session "session".* failed: /),
  });
  expect(server.slots.size).toBe(0);
});

test("a claim without a place is refused at once when the store is unavailable", async () => {
  server.fail("enter", "before", new StoreUnavailableError("the store answered OOM"));
  const error = await failure(acquire("c-1"));
  expect(StoreUnavailableError.is(error)).toBe(true);
  expect(error).toMatchObject({ message: expect.stringMatching(/OOM$/) });
  server.fail("watch", "before", new StoreUnavailableError("no connection"));
  expect(StoreUnavailableError.is(await failure(acquire("c-2")))).toBe(true);
});

test("an error that no repetition helps reaches the caller as it is", async () => {
  const error = new StateTooLargeError("the inbox is full");
  server.fail("enter", "before", error);
  expect(await failure(acquire("c-1"))).toBe(error);
  await passes(0);
});

test("a waiter outlasts an outage shorter than the lease", async () => {
  const first = await acquire("c-1");
  const waiting = acquire("c-2");
  await passes(0);
  server.fail("enter", "before", new StoreUnavailableError("away"), 30);
  await passes(LEASE_MS / 2);
  await first.release();
  // The wake-up met the outage, too.
  await passes(2_000);
  await (await waiting).release();
});

test("a waiter is refused when an outage has cost it its place", async () => {
  const first = await acquire("c-1");
  const waiting = failure(acquire("c-2"));
  await passes(0);
  server.fail("enter", "before", new StoreUnavailableError("away"), 1_000);
  await passes(LEASE_MS + 1_000);
  const error = await waiting;
  expect(StoreUnavailableError.is(error)).toBe(true);
  expect(error).toMatchObject({
    message: expect.stringMatching(/^waiting for session "session".* failed: away$/),
  });
  await first.release();
});

test("close refuses those who wait and those who come, and loses the leases", async () => {
  const first = await acquire("c-1");
  const waiting = failure(acquire("c-2"));
  await passes(0);
  await Promise.all([gate.close(), gate.close()]);
  expect(StoreUnavailableError.is(await waiting)).toBe(true);
  expect(StoreUnavailableError.is(await failure(acquire("c-3")))).toBe(true);
  expect(LeaseLostError.is(first.lost.reason)).toBe(true);
  expect(server.commands.filter((each) => each === "close")).toHaveLength(1);
});

test("a claim that is granted while the gate closes is lost at once", async () => {
  const call = acquire("c-1");
  // The grant is on its way to the caller: one turn of the microtask queue before it is held.
  while (server.slots.size === 0) await Promise.resolve();
  const closing = gate.close();
  const lease = await call.catch(() => undefined);
  await closing;
  expect(lease === undefined || lease.lost.aborted).toBe(true);
});
