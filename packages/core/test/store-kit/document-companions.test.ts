import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  SessionBusyError,
  StoreUnavailableError,
  UnknownOutcomeError,
  userMessage,
} from "../../src/index.js";
import { documentStore, type LogDraft } from "../../src/store-kit/index.js";
import { type Fault, MapClient } from "./map-client.js";
import { appendWrite, newSlot } from "./state-writes.js";

const long = process.env["HOLDFAST_LONG"] === "1";
const slot = newSlot();

/** A client of another process over the same documents. */
function another(client: MapClient): MapClient {
  const other = new MapClient();
  Object.assign(other, { values: client.values });
  other.compareAndSet = (key, value, expected) => {
    const fault = other.fault("compareAndSet");
    client.fault = () => fault;
    const written = client.compareAndSet(key, value, expected);
    client.fault = () => undefined;
    return written;
  };
  return other;
}

function partsOver(client: MapClient, options = {}) {
  const store = documentStore(client, { reach: "distributed", pollMs: 10, ...options });
  const parts = store.companions?.();
  if (parts === undefined) throw new Error("it has companions");
  return parts;
}

/** Moves the clocks until a promise has settled. */
async function settled<T>(promise: Promise<T>): Promise<T> {
  let isDone = false;
  const end = (): void => {
    isDone = true;
  };
  promise.then(end, end);
  for (let steps = 0; !isDone; steps++) {
    if (steps > 10_000) throw new Error("it did not end within 200 s");
    await vi.advanceTimersByTimeAsync(20);
  }
  return promise;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const anyFault = fc.constantFrom<Fault | undefined>(
  ...([
    "refused",
    "answer lost",
    "late",
    "spurious",
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ] as const),
);

test("whatever the client loses, there are never two holders and every call ends", async () => {
  const property = fc.asyncProperty(
    fc.array(anyFault, { maxLength: 40 }),
    fc.array(
      fc.record({
        node: fc.nat({ max: 2 }),
        after: fc.nat({ max: 40 }),
        holds: fc.nat({ max: 60 }),
      }),
      { minLength: 1, maxLength: 8 },
    ),
    async (faults, calls) => {
      const server = new MapClient();
      const clients = [0, 1, 2].map(() => another(server));
      const left = [...faults];
      for (const client of clients) client.fault = () => left.shift();
      const gates = clients.map((client) => partsOver(client).gate);
      let holders = 0;
      const call = async ({ node, after, holds }: (typeof calls)[number], index: number) => {
        await new Promise((resolve) => setTimeout(resolve, after));
        const lease = await gates[node]?.acquire(slot, { callId: `c-${index}` });
        if (lease === undefined) return;
        expect(++holders).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, holds));
        expect(lease.lost.aborted).toBe(false);
        holders--;
        await lease.release();
      };
      const outcomes = await settled(Promise.allSettled(calls.map(call)));
      for (const outcome of outcomes)
        if (outcome.status === "rejected")
          expect(outcome.reason).toSatisfy((error) => StoreUnavailableError.is(error));
    },
  );
  await fc.assert(property, { numRuns: long ? 1_000 : 40, endOnFailure: true });
});

describe("a holder that died", () => {
  async function dead(options: object) {
    const client = new MapClient();
    const gone = another(client);
    await settled(partsOver(gone, options).gate.acquire(slot, { callId: "dead" }));
    gone.get = () => new Promise(() => undefined);
    return partsOver(another(client), options).gate;
  }

  test("keeps its lease until a waiter saw it unchanged for leaseMs, and no longer", async () => {
    const gate = await dead({ leaseMs: 3_000 });
    // The time before the waiter came does not count: nobody has seen the lease since when it stands still.
    await vi.advanceTimersByTimeAsync(2_900);
    let isGranted = false;
    const waiting = gate.acquire(slot, { callId: "next" }).then((lease) => {
      isGranted = true;
      return lease;
    });
    await vi.advanceTimersByTimeAsync(2_900);
    expect(isGranted).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect(isGranted).toBe(true);
    await (await waiting).release();
  });

  test("gives way after nodeTimeoutMs without a heartbeat of its process", async () => {
    const gate = await dead({ leaseMs: 60_000, nodeTimeoutMs: 1_000 });
    const waiting = gate.acquire(slot, { callId: "next" });
    await vi.advanceTimersByTimeAsync(3_000);
    await (await settled(waiting)).release();
    expect(await gate.calls(slot)).toEqual([]);
  });

  test("is also found by calls that do not wait", async () => {
    const gate = await dead({ leaseMs: 3_000 });
    const attempt = () => settled(gate.acquire(slot, { callId: "next", wait: false }));
    for (let second = 0; second < 3; second++) {
      await expect(attempt()).rejects.toSatisfy(SessionBusyError.is);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    await (await attempt()).release();
  });
});

test("a listing of states reads no document of the companions", async () => {
  const client = new MapClient();
  const store = documentStore(client, { reach: "distributed" });
  const { gate, log, keyValue } = store.companions?.() ?? {};
  await store.save(slot, appendWrite(null, 0, [userMessage("hi")]));
  await (await gate?.acquire(slot, { callId: "c" }))?.release();
  await log?.append(slot, [draft("a")]);
  await keyValue?.put(["n"], "k", 1);
  expect(client.values.size).toBeGreaterThan(5);
  client.commands.length = 0;
  expect((await store.list()).slots).toHaveLength(1);
  expect(client.commands.filter((command) => command === "get")).toHaveLength(1);
});

function draft(id: string): LogDraft {
  const at = new Date(0).toISOString();
  return { v: 1, id, callId: "c", at, kind: "message", message: userMessage(id) };
}

test("whatever the client loses, the log has every acknowledged record once, in order", async () => {
  const property = fc.asyncProperty(fc.array(anyFault, { maxLength: 60 }), async (faults) => {
    const client = new MapClient();
    const left = [...faults];
    client.fault = (command) => (command === "get" ? undefined : left.shift());
    const { log } = partsOver(client);
    const ids = Array.from({ length: 230 }, (_, index) => `r-${index}`);
    for (let at = 0; at < ids.length; at += 23)
      await untilDone(() => log.append(slot, ids.slice(at, at + 23).map(draft)));
    const read = await settled(log.read(slot, { limit: 1_000 }));
    expect(read.map(({ id }) => id)).toEqual(ids);
    expect(await untilDone(() => log.delete(slot))).toBe(true);
    expect(await settled(log.read(slot))).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    const pages = [...client.values.keys()].filter((key) => key.endsWith("-page"));
    if (faults.length === 0) expect(pages).toEqual([]);
  });
  await fc.assert(property, { numRuns: long ? 300 : 15 });
});

/** Repeats what failed with an unknown outcome, as the engine does; a delete that was applied says so by its first answer. */
async function untilDone<T>(work: () => Promise<T>): Promise<T | true> {
  for (let isRepeated = false; ; isRepeated = true) {
    try {
      const result = await settled(work());
      return isRepeated && result === false ? true : result;
    } catch (error) {
      if (!StoreUnavailableError.is(error) && !UnknownOutcomeError.is(error)) throw error;
    }
  }
}

test("puts and deletes of several processes at once leave exactly the listed keys with values", async () => {
  const step = fc.record({
    node: fc.nat({ max: 2 }),
    key: fc.constantFrom("a", "b"),
    isPut: fc.boolean(),
    after: fc.nat({ max: 60 }),
  });
  const property = fc.asyncProperty(fc.array(step, { maxLength: 24 }), async (steps) => {
    const server = new MapClient();
    const stores = [0, 1, 2].map(() => partsOver(another(server)).keyValue);
    await settled(
      Promise.all(
        steps.map(async ({ node, key, isPut, after }) => {
          for (let turn = 0; turn < after; turn++) await Promise.resolve();
          await (isPut ? stores[node]?.put(["n"], key, 1) : stores[node]?.delete(["n"], key));
        }),
      ),
    );
    const { keys } = (await stores[0]?.list(["n"])) ?? {};
    const values = (await stores[0]?.getMany(["n"], ["a", "b"])) ?? [];
    expect(keys).toEqual(["a", "b"].filter((_, index) => values[index] !== null));
  });
  await fc.assert(property, { numRuns: long ? 3_000 : 60 });
});

test("a claim that lost its place and came again is not taken for the one it was", async () => {
  const client = new MapClient();
  const { gate } = partsOver(client);
  const other = partsOver(another(client));
  const lease = await settled(gate.acquire(slot, { callId: "holds" }));
  const waiting = other.gate.acquire(slot, { callId: "waits" });
  interface Gate {
    readonly claims: readonly { readonly callId: string; readonly beat: number }[];
  }
  /** Takes the waiting claim out of its queue, as a call does that took its process for dead; returns the claim's beat. */
  async function takePlace(): Promise<number | undefined> {
    for (const [key, { value, version }] of client.values) {
      const gate = JSON.parse(value) as Gate;
      const isOther = ({ callId }: Gate["claims"][number]) => callId !== "waits";
      const own = gate.claims?.find((claim) => !isOther(claim));
      if (!own) continue;
      const next = { ...gate, claims: gate.claims.filter(isOther) };
      expect(await client.compareAndSet(key, JSON.stringify(next), version)).toBe(true);
      return own.beat;
    }
    return undefined;
  }
  const beats: number[] = [];
  for (let round = 0; round < 3; round++) {
    await vi.advanceTimersByTimeAsync(15_000);
    const beat = await takePlace();
    expect(beat).toBeDefined();
    beats.push(beat ?? 0);
  }
  expect(beats).toEqual([...new Set(beats)].toSorted((one, another) => one - another));
  await settled(lease.release());
  await settled((await settled(waiting)).release());
});

test("a refused put leaves no key in the listing", async () => {
  const { keyValue } = partsOver(new MapClient());
  const version = await settled(keyValue.put(["n"], "k", 1));
  await settled(keyValue.delete(["n"], "k"));
  const refused = keyValue.put(["n"], "k", 2, { expected: version });
  await expect(settled(refused)).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await settled(keyValue.list(["n"]))).keys).toEqual([]);
});
