import { randomUUID } from "node:crypto";
import { type Slot, StoreUnavailableError } from "@holdfast/core";
import { BoundedMap, KeyedQueue } from "@holdfast/core/plugin-kit";
import {
  boundedWrite,
  type Claim,
  describeSlot,
  type EnterAnswer,
  type EnterTerms,
  type LeaseBackend,
  type SeenCall,
  slotText,
} from "@holdfast/core/store-kit";
import { IdlePool } from "../io/idle-pool.js";
import { ioCode, ioReason, unavailable } from "../io/io-error.js";
import { bySlot, slotDirectory } from "../layout.js";
import { ownIdentity } from "../process/process-identity.js";
import type { KeptTicket } from "./kept-ticket.js";
import { SlotQueue } from "./slot-queue.js";
import { TicketDirectory } from "./ticket-directory.js";

/** Keeps leases as tickets, numbered files in a directory of each slot. */
export class TicketBackend implements LeaseBackend {
  readonly kind = "json";
  readonly reach = "host";
  readonly leaseMs: number;
  readonly commandTimeoutMs = 5_000;
  readonly #root: string;
  readonly #placeOf: (slot: Slot) => { readonly directory: string; readonly label: string };
  readonly #gate = randomUUID();
  readonly #steps = new KeyedQueue();
  readonly #queues = new Map<string, SlotQueue>();
  /** Queues of slots that others hold, as `calls` has seen them. */
  readonly #seen = new BoundedMap<string, SlotQueue>({ maxEntries: 1_000 });
  readonly #idle = new IdlePool<KeptTicket>(async (kept) => kept.close());
  readonly #wakes = new Map<string, () => void>();

  constructor(root: string, leaseMs: number) {
    this.#root = root;
    this.#placeOf = bySlot((slot) => ({
      directory: slotDirectory(root, slot),
      label: describeSlot(slot),
    }));
    this.leaseMs = leaseMs;
  }

  enter(claim: Claim, terms: EnterTerms): Promise<EnterAnswer> {
    const what = `queueing for ${this.#placeOf(claim.slot).label}`;
    return boundedWrite(what, terms.deadlineMs, async () => {
      try {
        return await this.#step(claim.slot, (queue) => queue.enter(claim, terms));
      } catch (error) {
        if (ioCode(error) === undefined) throw error;
        throw new StoreUnavailableError(
          `${what} failed: ${ioReason(error)}; check the disk and try again`,
          { cause: error },
        );
      }
    });
  }

  renew(claim: Claim, deadlineMs: number): Promise<boolean> {
    const what = `renewing the lease on ${this.#placeOf(claim.slot).label}`;
    return boundedWrite(
      what,
      deadlineMs,
      async () => (await this.#queues.get(slotText(claim.slot))?.renew(claim)) ?? false,
    );
  }

  leave(claim: Claim): Promise<void> {
    const what = `releasing ${this.#placeOf(claim.slot).label}`;
    return boundedWrite(what, this.commandTimeoutMs, () =>
      this.#step(claim.slot, (queue) => queue.leave(claim)),
    );
  }

  async calls(slot: Slot): Promise<readonly SeenCall[]> {
    const key = slotText(slot);
    try {
      const own = this.#queues.get(key);
      const queue = own ?? this.#seen.get(key) ?? this.#queueOf(slot);
      const tickets = await queue.tickets();
      // Kept: that a lease is over shows only in two looks at it, and a call that comes then need not look twice as well.
      if (tickets.length > 0 && !own) this.#seen.set(key, queue);
      const seen = new Set(tickets.map(({ token }) => token));
      const waiting = this.#queues.get(key)?.claims.filter(({ token }) => !seen.has(token)) ?? [];
      return [...tickets, ...waiting].map(({ callId }) => ({ callId }));
    } catch (error) {
      throw unavailable(`look at the calls of ${this.#placeOf(slot).label}`, error);
    }
  }

  async watch({ token }: Claim, wake: () => void): Promise<() => void> {
    this.#wakes.set(token, wake);
    return () => this.#wakes.delete(token);
  }

  async close(): Promise<void> {
    for (const queue of this.#queues.values()) queue.close();
    await this.closeIdle();
  }

  /** Closes the files of tickets that were given back. */
  closeIdle(): Promise<void> {
    return this.#idle.clear();
  }

  /** Runs a command on the queue of a slot after those before it. */
  #step<T>(slot: Slot, command: (queue: SlotQueue) => Promise<T>): Promise<T> {
    const key = slotText(slot);
    return this.#steps.run(key, async () => {
      const queue = this.#queues.get(key) ?? this.#seen.get(key) ?? this.#queueOf(slot);
      this.#seen.delete(key);
      this.#queues.set(key, queue);
      try {
        return await command(queue);
      } finally {
        if (queue.claims.length === 0) this.#queues.delete(key);
      }
    });
  }

  #queueOf(slot: Slot): SlotQueue {
    const { directory: path } = this.#placeOf(slot);
    const directory = new TicketDirectory(path, this.#root, this.#idle);
    const terms = { gate: this.#gate, leaseMs: this.leaseMs, ...ownIdentity() };
    return new SlotQueue(directory, terms, (token) => this.#wakes.get(token)?.());
  }
}
