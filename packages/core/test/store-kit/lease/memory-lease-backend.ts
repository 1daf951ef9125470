import type { Slot } from "../../../src/index.js";
import {
  type Claim,
  type EnterAnswer,
  type EnterTerms,
  type LeaseBackend,
  type NodeBeats,
  type SeenCall,
  type SeenClaim,
  slotText,
} from "../../../src/store-kit/index.js";

interface Entry {
  readonly claim: Claim;
  until: number;
  version: number;
}

/** Commands of a backend. */
type Command = "enter" | "renew" | "leave" | "watch" | "beat" | "lastBeat";

/** A command that a test lets fail: before it is applied, or after, so that only its answer is lost. */
interface Fault {
  readonly command: Command;
  readonly when: "before" | "after";
  readonly error: Error;
  times: number;
}

/** A server's memory, shared by the backends of several processes. */
export class LeaseServer {
  /** Per slot: its holder first, then the queue. */
  readonly slots = new Map<string, Entry[]>();
  readonly wakes = new Map<string, () => void>();
  readonly commands: string[] = [];
  readonly faults: Fault[] = [];
  readonly dropped: string[] = [];
  readonly beats = new Map<string, string>();
  /** Tokens of holders that were replaced. */
  readonly replaced = new Set<string>();
  /** Resolves when renewals may be answered; they are applied before. */
  renewals: Promise<void> = Promise.resolve();
  isWaking = true;
  /** Number of commands that took or kept a claim: each of them makes another version of it. */
  kept = 0;

  fail(command: Fault["command"], when: Fault["when"], error: Error, times = 1): void {
    this.faults.push({ command, when, error, times });
  }

  meet(command: Fault["command"], when: Fault["when"]): void {
    const fault = this.faults.find(
      (each) => each.command === command && each.when === when && each.times > 0,
    );
    if (fault === undefined) return;
    fault.times--;
    throw fault.error;
  }

  entries(slot: Slot): Entry[] {
    const key = slotText(slot);
    const alive = (this.slots.get(key) ?? []).filter(({ until }) => until > performance.now());
    this.slots.set(key, alive);
    return alive;
  }
}

/** Way of one process to the server. */
export interface Link {
  /** Resolves when a command has arrived, or when its answer has; rejects when it never will. */
  pass(): Promise<void>;
}

const atOnce: Link = { pass: async () => undefined };

/** In-memory backend, to test the gate itself. */
export class MemoryLeaseBackend implements LeaseBackend {
  readonly kind = "memory-lease";
  readonly reach = "process";
  readonly leaseMs: number;
  readonly commandTimeoutMs = 1_000;
  readonly nodes: NodeBeats | undefined;
  readonly #server: LeaseServer;
  readonly #link: Link;

  constructor(server: LeaseServer, leaseMs = 30_000, nodeTimeoutMs?: number, link: Link = atOnce) {
    this.#server = server;
    this.#link = link;
    this.leaseMs = leaseMs;
    this.nodes = nodeTimeoutMs === undefined ? undefined : this.#nodes(nodeTimeoutMs);
  }

  async enter(claim: Claim, terms: EnterTerms): Promise<EnterAnswer> {
    this.#server.commands.push(`enter ${claim.callId} ${terms.mode}`);
    return this.#sent("enter", () => this.#enter(claim, terms));
  }

  async renew(claim: Claim): Promise<boolean> {
    this.#server.commands.push(`renew ${claim.callId}`);
    return this.#sent("renew", async () => {
      const entries = this.#server.entries(claim.slot);
      // Gone without a successor: forgotten by a failover.
      if (entries.length === 0 && !this.#server.replaced.has(claim.token))
        entries.push({ claim, until: 0, version: 0 });
      const holder = entries[0];
      const isKept = holder?.claim.token === claim.token;
      if (isKept && holder !== undefined) this.#keep(holder);
      await this.#server.renewals;
      return isKept;
    });
  }

  async leave(claim: Claim, drop: readonly string[]): Promise<void> {
    this.#server.commands.push(`leave ${claim.callId}`);
    await this.#sent("leave", () => {
      this.release(claim.slot, claim.token);
      this.#server.dropped.push(...drop);
    });
  }

  /** What a save that releases the lease does. */
  release(slot: Slot, token: string): void {
    const entries = this.#server.entries(slot);
    const rest = entries.filter((each) => each.claim.token !== token);
    this.#server.slots.set(slotText(slot), rest);
    if (rest.length === 0) this.#server.slots.delete(slotText(slot));
    else if (this.#server.isWaking) this.#server.wakes.get(rest[0]?.claim.token ?? "")?.();
  }

  async calls(slot: Slot): Promise<readonly SeenCall[]> {
    this.#server.commands.push("calls");
    const entries = this.#server.entries(slot);
    return entries.map((entry) => ({ callId: entry.claim.callId, claim: seen(entry) }));
  }

  async watch(claim: Claim, wake: () => void): Promise<() => void> {
    this.#server.meet("watch", "before");
    this.#server.wakes.set(claim.token, wake);
    return () => this.#server.wakes.delete(claim.token);
  }

  async close(): Promise<void> {
    this.#server.commands.push("close");
  }

  #nodes(timeoutMs: number): NodeBeats {
    const { commands, beats } = this.#server;
    return {
      timeoutMs,
      beat: async (nodeId, count) => {
        commands.push("beat");
        await this.#sent("beat", () => void beats.set(nodeId, String(count)));
      },
      lastBeat: async (nodeId) => {
        commands.push("lastBeat");
        return this.#sent("lastBeat", () => beats.get(nodeId) ?? null);
      },
    };
  }

  async #sent<T>(command: Command, apply: () => T | Promise<T>): Promise<T> {
    await this.#link.pass();
    this.#server.meet(command, "before");
    const answer = await apply();
    this.#server.meet(command, "after");
    await this.#link.pass();
    return answer;
  }

  #keep(entry: Entry): void {
    entry.until = performance.now() + this.leaseMs;
    entry.version = ++this.#server.kept;
  }

  #enter(claim: Claim, { mode, maxQueue, put, replaces }: EnterTerms): EnterAnswer {
    const entries = this.#server.entries(claim.slot);
    const dead = entries.findIndex(
      (each) => each.claim.token === replaces?.token && `${each.version}` === replaces.version,
    );
    if (dead === 0) this.#server.replaced.add(replaces?.token ?? "");
    if (dead >= 0) entries.splice(dead, 1);
    let place = entries.findIndex((each) => each.claim.token === claim.token);
    const waiting = Math.max(entries.length - 1, 0);
    if (place < 0) {
      const isFull = mode === "refuse" || (mode === "queue" && waiting >= maxQueue);
      const last = entries.at(-1);
      if (last !== undefined && isFull) return { kind: "busy", waiting, before: seen(last) };
      place = entries.push({ claim, until: 0, version: 0 }) - 1;
    }
    const own = entries[place];
    if (own !== undefined) this.#keep(own);
    const before = entries[place - 1];
    if (before === undefined) {
      // It may have lost its place and come again.
      this.#server.replaced.delete(claim.token);
      return { kind: "granted", inbox: put === undefined ? [] : [put] };
    }
    return {
      kind: "wait",
      ahead: place,
      dueMs: before.until - performance.now(),
      before: seen(before),
    };
  }
}

function seen({ claim: { token }, version }: Entry): SeenClaim {
  return { token, version: `${version}` };
}
