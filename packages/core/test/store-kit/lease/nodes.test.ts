import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  LeaseLostError,
  SessionBusyError,
  type Slot,
  StoreUnavailableError,
} from "../../../src/index.js";
import { type Lease, LeaseGate } from "../../../src/store-kit/index.js";
import { expectNoTimers } from "../no-timers.js";
import { LeaseServer, type Link, MemoryLeaseBackend } from "./memory-lease-backend.js";

const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };
const LEASE_MS = 30_000;
const NODE_MS = 4_000;

/** Way to the server that a test can cut, or let nothing pass for a while. */
class Cable implements Link {
  isCut = false;
  delayMs = 0;
  #held: { readonly open: Promise<void>; resume(): void } | undefined;

  async pass(): Promise<void> {
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    await this.#held?.open;
    if (this.isCut) throw new StoreUnavailableError("cut");
  }

  cut(): void {
    this.isCut = true;
  }

  hold(): void {
    let resume = () => {};
    const open = new Promise<void>((resolve) => {
      resume = resolve;
    });
    this.#held ??= { open, resume: () => resume() };
  }

  resume(): void {
    this.isCut = false;
    this.#held?.resume();
    this.#held = undefined;
  }
}

let server: LeaseServer;
let gates: LeaseGate[];

beforeEach(() => {
  vi.useFakeTimers();
  server = new LeaseServer();
  gates = [];
});

afterEach(async () => {
  for (const gate of gates) await gate.close();
  await vi.advanceTimersByTimeAsync(0);
  await expectNoTimers();
  vi.useRealTimers();
});

function node(link?: Link, nodeMs: number | undefined = NODE_MS): LeaseGate {
  const gate = new LeaseGate(new MemoryLeaseBackend(server, LEASE_MS, nodeMs, link));
  gates.push(gate);
  return gate;
}

const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const count = (command: string) => server.commands.filter((each) => each === command).length;

/** A lease that is waited for, once it is there. */
function waitsFor(gate: LeaseGate, callId: string): { lease?: Lease; error?: unknown } {
  const waiter: { lease?: Lease; error?: unknown } = {};
  gate.acquire(slot, { callId }).then(
    (lease) => {
      waiter.lease = lease;
    },
    (error: unknown) => {
      waiter.error = error;
    },
  );
  return waiter;
}

/** Lets time pass until a waiter has its lease; returns how long that took. */
async function timeUntil(waiter: { lease?: Lease }, atMost: number): Promise<number> {
  const start = performance.now();
  while (waiter.lease === undefined && performance.now() - start < atMost) await passes(10);
  expect(waiter.lease).toBeDefined();
  return performance.now() - start;
}

/** A holder that was cut off from the store until another call had its session. */
async function replaced() {
  const cable = new Cable();
  const stale = await node(cable).acquire(slot, { callId: "c-1" });
  const waiter = waitsFor(node(), "c-2");
  await passes(0);
  cable.isCut = true;
  await timeUntil(waiter, LEASE_MS);
  return { cable, stale, waiter };
}

test("calls shorter than a third of the node's time cost no heartbeat, however many", async () => {
  const gate = node();
  for (let turn = 0; turn < 100; turn++) {
    const lease = await gate.acquire(slot, { callId: "c" });
    await passes(NODE_MS / 5);
    await lease.release();
  }
  expect(count("beat")).toBe(0);
});

test("a node with any number of long calls sends one heartbeat for all, three or four per timeout", async () => {
  const gate = node();
  const acquired = ["a", "b", "c"].map((sessionId) =>
    gate.acquire({ ...slot, sessionId }, { callId: sessionId }),
  );
  const leases = await Promise.all(acquired);
  await passes(10 * NODE_MS);
  expect(count("beat")).toBeGreaterThanOrEqual(28);
  expect(count("beat")).toBeLessThanOrEqual(40);
  for (const lease of leases) {
    expect(lease.validUntil).toBeGreaterThan(Date.now() + NODE_MS / 2);
    await lease.release();
  }
  const beats = count("beat");
  await passes(10 * NODE_MS);
  expect(count("beat")).toBe(beats);
});

test("the session of a dead node is taken over after its timeout, long before its lease ends", async () => {
  const cable = new Cable();
  const dead = await node(cable).acquire(slot, { callId: "c-1" });
  const waiter = waitsFor(node(), "c-2");
  await passes(5 * NODE_MS);
  expect(waiter.lease).toBeUndefined();
  cable.isCut = true;
  const { validUntil } = dead;
  expect(await timeUntil(waiter, LEASE_MS)).toBeLessThanOrEqual(NODE_MS * 1.2);
  expect(Date.now(), "never while the holder may be sure of it").toBeGreaterThanOrEqual(validUntil);
});

test("a node that got the session, or renewed its lease, just before it died is taken over as soon", async () => {
  const renewed = LEASE_MS / 3 + 100;
  for (const heldMs of [0, 100, renewed, 2 * renewed]) {
    const first = await node().acquire(slot, { callId: "c-1" });
    const cable = new Cable();
    const dying = waitsFor(node(cable), "c-2");
    await passes(0);
    const waiter = waitsFor(node(), "c-3");
    await passes(0);
    await first.release();
    await timeUntil(dying, 10);
    await passes(heldMs);
    cable.isCut = true;
    expect(await timeUntil(waiter, LEASE_MS)).toBeLessThan(1.25 * NODE_MS);
    await waiter.lease?.release();
    await passes(LEASE_MS);
  }
});

test("a call that comes when the node is already dead waits for its timeout, not longer", async () => {
  const cable = new Cable();
  await node(cable).acquire(slot, { callId: "c-1" });
  cable.isCut = true;
  await passes(3 * NODE_MS);
  const took = await timeUntil(waitsFor(node(), "c-2"), LEASE_MS);
  expect(took).toBeGreaterThanOrEqual(NODE_MS);
  expect(took).toBeLessThanOrEqual(NODE_MS * 1.2);
});

test("the place of a dead waiter is passed over", async () => {
  const cable = new Cable();
  const held = await node().acquire(slot, { callId: "c-1" });
  const dead = waitsFor(node(cable), "c-2");
  await passes(NODE_MS);
  const waiter = waitsFor(node(), "c-3");
  await passes(0);
  cable.isCut = true;
  await held.release();
  expect(await timeUntil(waiter, LEASE_MS)).toBeLessThanOrEqual(NODE_MS * 1.2);
  expect(dead.lease).toBeUndefined();
});

test("a holder that was replaced learns it when it asks, and not before it is answered", async () => {
  const { cable, stale, waiter } = await replaced();
  expect(stale.lost.aborted).toBe(false);
  const confirmed = vi.fn();
  const confirming = stale.confirm?.().then(confirmed, (error: unknown) => error);
  await passes(1_000);
  expect(confirmed).not.toHaveBeenCalled();
  cable.isCut = false;
  await passes(500);
  expect(LeaseLostError.is(await confirming)).toBe(true);
  expect(confirmed).not.toHaveBeenCalled();
  expect(waiter.lease?.lost.aborted).toBe(false);
});

test("a holder that was replaced learns it also when its successor has finished", async () => {
  const { cable, stale, waiter } = await replaced();
  await waiter.lease?.release();
  cable.isCut = false;
  const confirming = stale.confirm?.().catch((error: unknown) => error);
  await passes(500);
  expect(LeaseLostError.is(await confirming)).toBe(true);
});

test("an outage of the store shorter than the lease costs nobody anything", async () => {
  const held = await node().acquire(slot, { callId: "c-1" });
  const waiter = waitsFor(node(), "c-2");
  await passes(NODE_MS);
  for (const command of ["enter", "renew", "beat", "lastBeat"] as const)
    server.fail(command, "before", new StoreUnavailableError("away"), Number.POSITIVE_INFINITY);
  await passes(LEASE_MS / 2);
  expect(held.validUntil).toBeLessThan(Date.now());
  const confirming = held.confirm?.();
  await passes(1_000);
  server.faults.length = 0;
  await passes(500);
  await confirming;
  expect(held.validUntil).toBeGreaterThan(Date.now());
  await passes(5 * NODE_MS);
  expect([waiter.lease, held.lost.aborted]).toEqual([undefined, false]);
});

test("a store that stood still and then answers the waiter first does not take its heartbeats for missing", async () => {
  const [ofHolder, ofWaiter] = [new Cable(), new Cable()];
  const held = await node(ofHolder).acquire(slot, { callId: "c-1" });
  const waiter = waitsFor(node(ofWaiter), "c-2");
  for (let round = 0; round < 5; round++) {
    await passes(NODE_MS * (0.9 + round / 10));
    for (const cable of [ofHolder, ofWaiter]) cable.hold();
    await passes(NODE_MS * (0.5 + round));
    ofWaiter.resume();
    await passes(NODE_MS / 2);
    ofHolder.resume();
    await passes(500);
    await held.confirm?.();
  }
  expect([waiter.lease, held.lost.aborted]).toEqual([undefined, false]);
});

test("a store that answers reads and refuses writes is no reason to take a node for dead", async () => {
  const held = await node().acquire(slot, { callId: "c-1" });
  const waiter = waitsFor(node(), "c-2");
  await passes(NODE_MS);
  server.fail("beat", "before", new StoreUnavailableError("OOM"), Number.POSITIVE_INFINITY);
  await passes(2 * NODE_MS);
  server.faults.length = 0;
  await passes(2 * NODE_MS);
  expect([waiter.lease, held.lost.aborted]).toEqual([undefined, false]);
});

test("a heartbeat that is acknowledged too late does not count: the lease itself is renewed", async () => {
  const cable = new Cable();
  const held = await node(cable).acquire(slot, { callId: "c-1" });
  cable.hold();
  await passes(NODE_MS * 1.5);
  expect(count("renew c-1")).toBe(0);
  cable.resume();
  await passes(NODE_MS / 3);
  expect(count("renew c-1")).toBe(1);
  expect(held.validUntil).toBeGreaterThan(Date.now());
});

test("a heartbeat counts from when it was sent", async () => {
  const cable = new Cable();
  const held = await node(cable).acquire(slot, { callId: "c-1" });
  cable.delayMs = 500;
  const granted = held.validUntil;
  while (held.validUntil === granted) await passes(1);
  // Acknowledged after twice the delay.
  expect(held.validUntil).toBeLessThanOrEqual(Date.now() - 1_000 + NODE_MS + 1);
});

test("the lease of a release without heartbeats is honoured for all of its time", async () => {
  const cable = new Cable();
  await new LeaseGate(new MemoryLeaseBackend(server, LEASE_MS, undefined, cable)).acquire(slot, {
    callId: "c-1",
  });
  cable.isCut = true;
  const took = await timeUntil(waitsFor(node(), "c-2"), 2 * LEASE_MS);
  expect(took).toBeGreaterThanOrEqual(LEASE_MS - 10);
});

test("a wait behind a call of the same process watches nothing", async () => {
  const gate = node();
  const held = await gate.acquire(slot, { callId: "c-1" });
  const waiter = waitsFor(gate, "c-2");
  await passes(2 * NODE_MS);
  expect(server.commands.filter((each) => each === "beat").length).toBeLessThanOrEqual(8);
  await held.release();
  await timeUntil(waiter, 100);
});

describe("what is known about a node", () => {
  const other = { ...slot, sessionId: "other" };
  const third = { ...slot, sessionId: "third" };
  const tries = (gate: LeaseGate, on: Slot) =>
    gate.acquire(on, { callId: "now", wait: false }).then(
      (lease) => lease,
      (error: unknown) => {
        if (!SessionBusyError.is(error)) throw error;
      },
    );

  /** A gate that has taken over one session of a node that died holding two more, and was refused one of them before. */
  async function knowing() {
    const cable = new Cable();
    const dead = node(cable);
    for (const on of [slot, other, third]) await dead.acquire(on, { callId: "dead" });
    const gate = node();
    const waiter = waitsFor(gate, "waits");
    expect(await tries(gate, other)).toBeUndefined();
    cable.isCut = true;
    await timeUntil(waiter, LEASE_MS);
    return { gate, cable, dead };
  }

  test("lets a call that may not wait take over as well", async () => {
    const { gate } = await knowing();
    expect(await tries(gate, other)).toBeDefined();
  });

  test("counts for a claim from when it was first seen", async () => {
    const { gate } = await knowing();
    expect(await tries(gate, third)).toBeUndefined();
    await passes(NODE_MS / 2);
    expect(await tries(gate, third)).toBeUndefined();
    await passes(NODE_MS);
    expect(await tries(gate, third)).toBeDefined();
  });

  test("is not counted against a claim that was renewed since", async () => {
    const { gate, cable, dead } = await knowing();
    await passes(NODE_MS / 2);
    cable.isCut = false;
    // It is heard of again, and renews what it still has.
    await passes(LEASE_MS / 3);
    expect(await tries(gate, other)).toBeUndefined();
    expect(await tries(gate, third)).toBeUndefined();
    expect(dead.size).toBe(2);
  });

  test("is forgotten with its leases, and costs nothing from then on", async () => {
    const { gate } = await knowing();
    await passes(LEASE_MS + NODE_MS);
    const looks = count("lastBeat");
    await passes(LEASE_MS);
    expect(count("lastBeat")).toBe(looks);
    expect(gate.size).toBe(1);
  });

  test("lets one that waits for less than a node's time take over at its next try", async () => {
    const { gate } = await knowing();
    async function attempt(): Promise<Lease | undefined> {
      const leaving = new AbortController();
      setTimeout(() => leaving.abort(), NODE_MS / 2);
      const acquired = gate.acquire(third, { callId: "short", signal: leaving.signal });
      const settled = acquired.catch(() => undefined);
      await passes(NODE_MS / 2);
      return settled;
    }
    expect(await attempt()).toBeUndefined();
    expect(await attempt()).toBeUndefined();
    expect(await attempt()).toBeDefined();
  });

  test("is learned by asking for its calls, which leave it out then", async () => {
    const cable = new Cable();
    await node(cable).acquire(slot, { callId: "dead" });
    const gate = node();
    expect(await gate.calls(slot)).toEqual(["dead"]);
    await passes(10 * NODE_MS);
    expect(await gate.calls(slot)).toEqual(["dead"]);
    cable.isCut = true;
    await passes(NODE_MS * 1.2);
    expect(await gate.calls(slot)).toEqual([]);
    expect(await tries(gate, slot)).toBeDefined();
  });

  test("costs a question about calls a few seconds of looks, and those of this process nothing", async () => {
    await node().acquire(slot, { callId: "lives" });
    const gate = node();
    await gate.acquire(other, { callId: "own" });
    await gate.calls(slot);
    await gate.calls(other);
    await passes(2 * NODE_MS);
    const looks = count("lastBeat");
    expect(looks).toBeGreaterThanOrEqual(3);
    expect(looks).toBeLessThanOrEqual(12);
    await passes(LEASE_MS);
    expect(count("lastBeat")).toBe(looks);
  });
});

test("whatever is cut, held up or slow, no two calls are sure of one session", async () => {
  const fault = fc.record({
    node: fc.nat({ max: 2 }),
    kind: fc.constantFrom("cut" as const, "hold" as const, "server" as const),
    startsMs: fc.nat({ max: 30_000 }),
    lastsMs: fc.integer({ min: NODE_MS / 2, max: 3 * NODE_MS }),
  });
  const property = fc.asyncProperty(
    fc.array(fault, { minLength: 3, maxLength: 8 }),
    fc.array(
      fc.record({
        ms: fc.integer({ min: NODE_MS, max: 4 * NODE_MS }),
        /** Asks again and again instead of waiting. */
        isImpatient: fc.boolean(),
        sessionId: fc.constantFrom("session", "session", "other"),
      }),
      { minLength: 6, maxLength: 8 },
    ),
    fc.array(fc.constantFrom(0, 10, 500, 1_000), { minLength: 3, maxLength: 3 }),
    async (faults, holds, delaysMs) => {
      server = new LeaseServer();
      const cables = [new Cable(), new Cable(), new Cable()];
      const own = cables.map((cable, index) => {
        cable.delayMs = delaysMs[index] ?? 0;
        return node(cable);
      });
      const held: (Lease & { readonly sessionId: string })[] = [];
      let isOver = false;
      const calls = holds.map(async ({ ms, isImpatient, sessionId }, index) => {
        const gate = own[index % own.length] as LeaseGate;
        let granted: Lease | undefined;
        do {
          if (isImpatient) await new Promise((resolve) => setTimeout(resolve, 700));
          const request = { callId: `c-${index}`, wait: !isImpatient };
          granted = await gate.acquire({ ...slot, sessionId }, request).catch(() => undefined);
        } while (granted === undefined && isImpatient && !isOver);
        if (granted === undefined) return;
        const lease = Object.assign(granted, { sessionId });
        held.push(lease);
        await new Promise((resolve) => setTimeout(resolve, ms));
        // As a call does before it begins something new.
        while (!isOver && Date.now() >= lease.validUntil && !lease.lost.aborted)
          await lease.confirm?.().catch(() => undefined);
        held.splice(held.indexOf(lease), 1);
        void lease.release();
      });
      for (const { node: index, kind, startsMs, lastsMs } of faults)
        for (const cable of kind === "server" ? cables : cables.slice(index, index + 1)) {
          setTimeout(() => (kind === "cut" ? cable.cut() : cable.hold()), startsMs);
          setTimeout(() => cable.resume(), startsMs + lastsMs);
        }
      for (let at = 0; at < 50_000; at += 100) {
        await passes(100);
        const sure = held.filter((each) => !each.lost.aborted && each.validUntil > Date.now());
        const sessions = new Set(sure.map(({ sessionId }) => sessionId));
        expect(sure.length, `calls sure of their session after ${at} ms`).toBe(sessions.size);
        const revived = sure.filter(({ token }) => server.replaced.has(token));
        expect(revived, "calls sure of the session that were replaced").toEqual([]);
      }
      isOver = true;
      for (const gate of own) void gate.close();
      await passes(60_000);
      await Promise.all(calls);
    },
  );
  await fc.assert(property, { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 5_000 : 40 });
});
