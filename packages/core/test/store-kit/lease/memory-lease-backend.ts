import type { Slot } from "../../../src/index.js";
import {
  type Claim,
  type EnterAnswer,
  type EnterTerms,
  type LeaseBackend,
  slotText,
} from "../../../src/store-kit/index.js";

interface Entry {
  readonly claim: Claim;
  until: number;
}

/** A command that a test lets fail: before it is applied, or after, so that only its answer is lost. */
interface Fault {
  readonly command: "enter" | "renew" | "leave" | "watch";
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
  /** Resolves when renewals may be answered; they are applied before. */
  renewals: Promise<void> = Promise.resolve();
  isWaking = true;

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

/** In-memory backend, to test the gate itself. */
export class MemoryLeaseBackend implements LeaseBackend {
  readonly kind = "memory-lease";
  readonly reach = "process";
  readonly leaseMs: number;
  readonly commandTimeoutMs = 1_000;
  readonly #server: LeaseServer;

  constructor(server: LeaseServer, leaseMs = 30_000) {
    this.#server = server;
    this.leaseMs = leaseMs;
  }

  async enter(claim: Claim, terms: EnterTerms): Promise<EnterAnswer> {
    this.#server.commands.push(`enter ${claim.callId} ${terms.mode}`);
    this.#server.meet("enter", "before");
    const answer = this.#enter(claim, terms);
    this.#server.meet("enter", "after");
    return answer;
  }

  async renew(claim: Claim): Promise<boolean> {
    this.#server.commands.push(`renew ${claim.callId}`);
    this.#server.meet("renew", "before");
    const entries = this.#server.entries(claim.slot);
    if (entries.length === 0) entries.push({ claim, until: 0 });
    const holder = entries[0];
    const isKept = holder?.claim.token === claim.token;
    if (isKept && holder !== undefined) holder.until = performance.now() + this.leaseMs;
    await this.#server.renewals;
    this.#server.meet("renew", "after");
    return isKept;
  }

  async leave(claim: Claim, drop: readonly string[]): Promise<void> {
    this.#server.commands.push(`leave ${claim.callId}`);
    this.#server.meet("leave", "before");
    this.release(claim.slot, claim.token);
    this.#server.dropped.push(...drop);
    this.#server.meet("leave", "after");
  }

  /** What a save that releases the lease does. */
  release(slot: Slot, token: string): void {
    const entries = this.#server.entries(slot);
    const rest = entries.filter((each) => each.claim.token !== token);
    this.#server.slots.set(slotText(slot), rest);
    if (rest.length === 0) this.#server.slots.delete(slotText(slot));
    else if (this.#server.isWaking) this.#server.wakes.get(rest[0]?.claim.token ?? "")?.();
  }

  async calls(slot: Slot): Promise<readonly string[]> {
    return this.#server.entries(slot).map(({ claim }) => claim.callId);
  }

  async watch(claim: Claim, wake: () => void): Promise<() => void> {
    this.#server.meet("watch", "before");
    this.#server.wakes.set(claim.token, wake);
    return () => this.#server.wakes.delete(claim.token);
  }

  async close(): Promise<void> {
    this.#server.commands.push("close");
  }

  #enter(claim: Claim, { mode, maxQueue, put }: EnterTerms): EnterAnswer {
    const entries = this.#server.entries(claim.slot);
    let place = entries.findIndex((each) => each.claim.token === claim.token);
    const waiting = Math.max(entries.length - 1, 0);
    if (place < 0) {
      const isFull = mode === "refuse" || (mode === "queue" && waiting >= maxQueue);
      if (entries.length > 0 && isFull) return { kind: "busy", waiting };
      place = entries.push({ claim, until: 0 }) - 1;
    }
    const own = entries[place];
    if (own !== undefined) own.until = performance.now() + this.leaseMs;
    if (place === 0) return { kind: "granted", inbox: put === undefined ? [] : [put] };
    const before = entries[place - 1]?.until ?? 0;
    return { kind: "wait", ahead: place, dueMs: before - performance.now() };
  }
}
