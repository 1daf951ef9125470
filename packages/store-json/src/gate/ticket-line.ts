import { randomUUID } from "node:crypto";
import { SessionBusyError, type Slot } from "@holdfast/core";
import { type AcquireRequest, DEFAULT_MAX_QUEUE, describeSlot } from "@holdfast/core/store-kit";
import { DirectoryChange } from "../io/directory-change.js";
import { ownIdentity, type ProcessIdentity } from "../process/process-identity.js";
import { FileLease } from "./file-lease.js";
import { LifeWatch } from "./life-watch.js";
import type { Ticket } from "./ticket.js";
import type { TicketDirectory } from "./ticket-directory.js";

const POLL = { firstMs: 50, lastMs: 250, keepsRunning: true };

/** One call's wish for a slot. */
export interface LineRequest
  extends Pick<AcquireRequest, "callId" | "signal" | "wait" | "maxQueue"> {
  readonly slot: Slot;
  readonly directory: TicketDirectory;
  /** Called while it waits, whenever it looked how many calls are before it. */
  readonly onWait: (ahead: number) => void;
}

/** Lines up for slots among the processes of a host, with numbered tickets. */
export class TicketLine {
  readonly #id = randomUUID();
  readonly #leaseMs: number;
  /** Tickets this gate stands by; others with its id are left from a release that failed. */
  readonly #standing = new Set<string>();
  #here: ProcessIdentity | undefined;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  /**
   * Waits for the slot's turn.
   *
   * @throws SessionBusyError, or the signal's reason
   */
  async acquire(request: LineRequest): Promise<FileLease> {
    const { directory, signal, wait = true, maxQueue = DEFAULT_MAX_QUEUE } = request;
    const before = await this.tickets(directory);
    if (before.length > 0 && (!wait || before.length > maxQueue))
      throw busy(request, before.length - 1);
    for (;;) {
      signal?.throwIfAborted();
      const ticket = await directory.take({ ...this.#ticket(), callId: request.callId });
      this.#standing.add(ticket.token);
      const lease = new FileLease({
        directory,
        ticket,
        label: describeSlot(request.slot),
        onEnd: () => this.#standing.delete(ticket.token),
      });
      try {
        if (await this.#waitForTurn(request, ticket, lease)) return lease;
      } catch (error) {
        await lease.release();
        throw error;
      }
      // Taken away while it waited, since this process stood still for too long: to the end of the line.
      await lease.release();
    }
  }

  /** The tickets that count, in order. */
  async tickets(directory: TicketDirectory): Promise<Ticket[]> {
    const watch = this.#watch();
    const tickets: Ticket[] = [];
    for (const number of await directory.numbers()) {
      const seen = await directory.read(number);
      if (seen !== null && (await watch.counts(seen))) tickets.push(seen.ticket);
    }
    return tickets;
  }

  /** Whether a ticket is this gate's. */
  isOwn(ticket: Ticket): boolean {
    return ticket.gate === this.#id;
  }

  /** Resolves when no ticket before this one counts; to false when it was taken away first. */
  async #waitForTurn(request: LineRequest, ticket: Ticket, lease: FileLease): Promise<boolean> {
    const { directory, signal, wait = true, onWait } = request;
    const watch = this.#watch();
    const change = new DirectoryChange(directory.path, POLL);
    try {
      for (;;) {
        signal?.throwIfAborted();
        const numbers = await directory.numbers();
        if (!numbers.includes(ticket.number) || lease.lost.aborted) return false;
        const ahead = await this.#countBefore(ticket.number, numbers, directory, watch);
        if (ahead === 0) return true;
        if (!wait) throw busy(request, ahead - 1);
        onWait(ahead);
        await change.next(signal);
      }
    } finally {
      change.close();
    }
  }

  /** How many tickets before this one count; those that do not are removed, so that their holders notice. */
  async #countBefore(
    number: number,
    numbers: readonly number[],
    directory: TicketDirectory,
    watch: LifeWatch,
  ): Promise<number> {
    let count = 0;
    for (const lower of numbers.filter((each) => each < number)) {
      const seen = await directory.read(lower);
      if (seen !== null && (await watch.counts(seen))) count++;
      else await directory.remove(lower);
    }
    return count;
  }

  #watch(): LifeWatch {
    return new LifeWatch(this.#identity(), (ticket) =>
      this.isOwn(ticket) ? this.#standing.has(ticket.token) : undefined,
    );
  }

  #ticket(): Omit<Ticket, "number" | "released" | "callId"> {
    return {
      token: randomUUID(),
      gate: this.#id,
      leaseMs: this.#leaseMs,
      ...this.#identity(),
    };
  }

  // Read when first needed: constructing a gate does no I/O.
  #identity(): ProcessIdentity {
    this.#here ??= ownIdentity();
    return this.#here;
  }
}

function busy({ slot, wait = true }: LineRequest, waiting: number): SessionBusyError {
  return new SessionBusyError(
    `${describeSlot(slot)} is running a call of another process and ${waiting} wait for it; this call may not wait${
      wait ? " in so long a line" : ""
    }: try again later`,
  );
}
