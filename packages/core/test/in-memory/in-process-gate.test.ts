import fc from "fast-check";
import { expect, test } from "vitest";
import {
  InProcessSessionGate,
  InvalidIdError,
  SessionBusyError,
  type Slot,
} from "../../src/index.js";
import type { Lease } from "../../src/store-kit/index.js";

const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

async function holdWith(gate: InProcessSessionGate, waiters: number, maxQueue = waiters) {
  const holder = await gate.acquire(slot, { callId: "holder" });
  const waiting = Array.from({ length: waiters }, (_, index) =>
    gate.acquire(slot, { callId: `waiter-${index}`, maxQueue }),
  );
  return { holder, waiting };
}

test("calls on one slot are admitted in the order they came", async () => {
  const gate = new InProcessSessionGate();
  const { holder, waiting } = await holdWith(gate, 5);
  const admitted: number[] = [];
  const done = waiting.map(async (lease, index) => {
    const got = await lease;
    admitted.push(index);
    await got.release();
  });
  const waiters = [0, 1, 2, 3, 4].map((index) => `waiter-${index}`);
  expect(await gate.calls(slot)).toEqual(["holder", ...waiters]);
  expect(admitted).toEqual([]);
  await holder.release();
  await Promise.all(done);
  expect(admitted).toEqual([0, 1, 2, 3, 4]);
  expect(await gate.calls(slot)).toEqual([]);
  expect(gate.size).toBe(0);
});

test("different slots never wait for each other, however alike their ids look", async () => {
  const gate = new InProcessSessionGate();
  const alike: Slot[] = [
    { agentId: "a", userId: "b", sessionId: "c" },
    { agentId: "a", userId: null, sessionId: "c" },
    { agentId: "a", userId: "0", sessionId: "c" },
    { agentId: "ab", userId: null, sessionId: "c" },
    { agentId: "a", userId: "b/c", sessionId: "d" },
    { agentId: "a", userId: "b", sessionId: "c/d" },
  ];
  const leases = await Promise.all(
    alike.map((each) => gate.acquire(each, { callId: "call", wait: false })),
  );
  expect(gate.size).toBe(alike.length);
  expect(new Set(leases.map(({ token }) => token)).size).toBe(alike.length);
  await Promise.all(leases.map((lease) => lease.release()));
  expect(gate.size).toBe(0);
});

test("a call that may not wait is told that the session is busy, and how many wait", async () => {
  const gate = new InProcessSessionGate();
  await holdWith(gate, 3);
  const refused = gate.acquire(slot, { callId: "hasty", wait: false });
  await expect(refused).rejects.toSatisfy(SessionBusyError.is);
  await expect(refused).rejects.toThrow(/session "session" of user "user".* 3 wait/);
  expect(await gate.calls(slot)).toHaveLength(4);
});

test("the queue is bounded: by the request, else at 100", async () => {
  const gate = new InProcessSessionGate();
  await holdWith(gate, 2);
  await expect(gate.acquire(slot, { callId: "third", maxQueue: 2 })).rejects.toThrow(/at most 2/);
  const more = Array.from({ length: 98 }, (_, n) => gate.acquire(slot, { callId: `more-${n}` }));
  await expect(gate.acquire(slot, { callId: "101st" })).rejects.toThrow(/100 wait.*at most 100/);
  expect(more).toHaveLength(98);
  expect(await gate.calls(slot)).toHaveLength(101);
});

test("a signal that is already aborted rejects at once with its reason and takes nothing", async () => {
  const gate = new InProcessSessionGate();
  const reason = new Error("gone");
  const signal = AbortSignal.abort(reason);
  await expect(gate.acquire(slot, { callId: "call", signal })).rejects.toBe(reason);
  expect(gate.size).toBe(0);
});

test("a waiter that gives up leaves the queue, and the others keep their order", async () => {
  const gate = new InProcessSessionGate();
  const holder = await gate.acquire(slot, { callId: "holder" });
  const controllers = [0, 1, 2].map(() => new AbortController());
  const waiting = controllers.map(({ signal }, n) =>
    gate.acquire(slot, { callId: `w${n}`, signal }),
  );
  const reason = new Error("changed my mind");
  controllers[1]?.abort(reason);
  await expect(waiting[1]).rejects.toBe(reason);
  expect(await gate.calls(slot)).toEqual(["holder", "w0", "w2"]);
  await holder.release();
  await (await waiting[0])?.release();
  await (await waiting[2])?.release();
  expect(gate.size).toBe(0);
});

test("aborting after admission changes nothing: the lease is its holder's until released", async () => {
  const gate = new InProcessSessionGate();
  const { holder } = await holdWith(gate, 0);
  const controller = new AbortController();
  const next = gate.acquire(slot, { callId: "next", signal: controller.signal });
  await holder.release();
  controller.abort(new Error("too late"));
  const lease = await next;
  expect(await gate.calls(slot)).toEqual(["next"]);
  expect(lease.lost.aborted).toBe(false);
  await lease.release();
  expect(gate.size).toBe(0);
});

test("releasing twice does not take the slot from the next holder", async () => {
  const gate = new InProcessSessionGate();
  const { holder, waiting } = await holdWith(gate, 2);
  await holder.release();
  await holder.release();
  expect(await gate.calls(slot)).toEqual(["waiter-0", "waiter-1"]);
  const [first] = waiting;
  expect(gate.isHeldBy(slot, holder.token)).toBe(false);
  expect(gate.isHeldBy(slot, ((await first) as Lease).token)).toBe(true);
  expect(gate.release(slot, holder.token)).toBe(false);
  expect(await gate.calls(slot)).toEqual(["waiter-0", "waiter-1"]);
});

test("a waiter is told how many calls are before it", async () => {
  const gate = new InProcessSessionGate();
  const ahead: number[] = [];
  const onWait = (count: number) => ahead.push(count);
  const holder = await gate.acquire(slot, { callId: "holder", onWait });
  const waiting = [1, 2, 3].map((n) => gate.acquire(slot, { callId: `w${n}`, onWait }));
  expect(ahead).toEqual([1, 2, 3]);
  await holder.release();
  for (const lease of waiting) await (await lease).release();
});

test("a waiter whose onWait throws leaves the queue with that error", async () => {
  const gate = new InProcessSessionGate();
  const holder = await gate.acquire(slot, { callId: "holder" });
  const error = new Error("broken listener");
  const waiting = gate.acquire(slot, {
    callId: "next",
    onWait: () => {
      throw error;
    },
  });
  await expect(waiting).rejects.toBe(error);
  expect(await gate.calls(slot)).toEqual(["holder"]);
  await holder.release();
  expect(gate.size).toBe(0);
});

test("ids are checked before anything is held", async () => {
  const gate = new InProcessSessionGate();
  const bad = { ...slot, userId: "" };
  await expect(gate.acquire(bad, { callId: "call" })).rejects.toSatisfy(InvalidIdError.is);
  await expect(gate.calls(bad)).rejects.toSatisfy(InvalidIdError.is);
  expect(gate.size).toBe(0);
});

test("a million sessions that came and went leave nothing behind", async () => {
  const gate = new InProcessSessionGate();
  for (let index = 0; index < 1_000_000; index++) {
    const lease = await gate.acquire({ ...slot, sessionId: String(index) }, { callId: "call" });
    await lease.release();
  }
  expect(gate.size).toBe(0);
});

test("10,000 waiters are served in order without growing the stack", async () => {
  const gate = new InProcessSessionGate();
  const { holder, waiting } = await holdWith(gate, 10_000);
  let served = 0;
  const done = waiting.map(async (lease, index) => {
    const got = await lease;
    expect(index).toBe(served++);
    await got.release();
  });
  await holder.release();
  await Promise.all(done);
  expect(served).toBe(10_000);
  expect(gate.size).toBe(0);
});

interface Call {
  readonly session: number;
  readonly startTick: number;
  readonly holdTicks: number;
  readonly abortTick: number | undefined;
}

const call: fc.Arbitrary<Call> = fc.record({
  session: fc.nat({ max: 2 }),
  startTick: fc.nat({ max: 15 }),
  holdTicks: fc.nat({ max: 6 }),
  abortTick: fc.option(fc.nat({ max: 40 }), { nil: undefined }),
});

test("under random holds and aborts no two calls overlap, order is kept and nothing is left", async () => {
  const long = process.env["HOLDFAST_LONG"] === "1";
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
      const gate = new InProcessSessionGate();
      let tick = 0;
      const sleepers: { wanted: number; wake: () => void }[] = [];
      const until = (wanted: number) =>
        new Promise<void>((wake) => {
          if (tick >= wanted) wake();
          else sleepers.push({ wanted, wake });
        });
      const running = new Map<number, number>();
      const queued: number[][] = [[], [], []];
      const admitted: number[][] = [[], [], []];
      const run = async ({ session, startTick, holdTicks, abortTick }: Call, id: number) => {
        const abort = new AbortController();
        await until(startTick);
        const asked = gate.acquire(
          { ...slot, sessionId: `s${session}` },
          { callId: String(id), signal: abort.signal },
        );
        queued[session]?.push(id);
        if (abortTick !== undefined)
          until(abortTick).then(() => abort.abort(new Error(String(id))));
        let lease: Lease;
        try {
          lease = await asked;
        } catch (error) {
          expect(error).toEqual(new Error(String(id)));
          queued[session] = queued[session]?.filter((other) => other !== id) ?? [];
          return;
        }
        expect(running.get(session)).toBeUndefined();
        running.set(session, id);
        admitted[session]?.push(id);
        await until(tick + holdTicks);
        running.delete(session);
        await lease.release();
      };
      const all = Promise.all(calls.map(run));
      let finished = false;
      all.finally(() => {
        finished = true;
      });
      while (!finished) {
        tick++;
        for (const { wanted, wake } of sleepers) if (wanted === tick) wake();
        for (let turn = 0; turn < 4; turn++) await Promise.resolve();
      }
      await all;
      expect(admitted).toEqual(queued);
      expect(gate.size).toBe(0);
    }),
    { numRuns: long ? 5_000 : 60 },
  );
});

test("a grant that fails rejects its call and passes the slot on, however many fail in a row", async () => {
  const gate = new InProcessSessionGate();
  const holder = await gate.acquire(slot, { callId: "holder" });
  const failing = Array.from({ length: 20_000 }, (_, index) =>
    gate.acquire(slot, { callId: `failing-${index}`, maxQueue: 30_000 }, () => {
      throw new Error(`grant ${index}`);
    }),
  );
  const last = gate.acquire(slot, { callId: "last", maxQueue: 30_000 });
  const refused = Promise.allSettled(failing);
  await holder.release();
  const reasons = (await refused).map((each) => each.status === "rejected" && each.reason.message);
  expect(reasons).toEqual(failing.map((_, index) => `grant ${index}`));
  const lease = await last;
  expect(await gate.calls(slot)).toEqual(["last"]);
  await lease.release();
  const first = gate.acquire(slot, { callId: "first" }, () => {
    throw new Error("at once");
  });
  await expect(first).rejects.toThrow("at once");
  expect(gate.size).toBe(0);
});
