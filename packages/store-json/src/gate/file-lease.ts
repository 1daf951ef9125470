import { LeaseLostError } from "@holdfast/core";
import type { Lease } from "@holdfast/core/store-kit";
import type { Ticket } from "./ticket.js";
import type { TicketDirectory } from "./ticket-directory.js";

/** What a lease needs to know about where it came from. */
export interface LeaseOrigin {
  readonly directory: TicketDirectory;
  readonly ticket: Ticket;
  /** For the error. */
  readonly label: string;
  /** Called once when it is over, given back or lost. */
  readonly onEnd: () => void;
}

/**
 * Keeps a ticket alive by signs of life, a third of its lease apart, from when it was taken until it is given back.
 *
 * `lost` aborts when the ticket was taken away, and also when this process was stopped or busy for so long that others
 * may have taken it away: better to stop than to run beside the next holder.
 */
export class FileLease implements Lease {
  readonly token: string;
  readonly #origin: LeaseOrigin;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #renewedAt = performance.now();
  #over = false;
  #released: Promise<void> | undefined;

  constructor(origin: LeaseOrigin) {
    this.#origin = origin;
    this.token = origin.ticket.token;
    this.#timer = setInterval(() => void this.#renew(), origin.ticket.leaseMs / 3);
    this.#timer.unref();
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  release(): Promise<void> {
    this.#released ??= this.#giveBack();
    return this.#released;
  }

  async #giveBack(): Promise<void> {
    this.#over = true;
    clearInterval(this.#timer);
    try {
      await this.#origin.directory.giveBack(this.#origin.ticket);
    } catch {
      // The ticket stays, and this gate does not stand by it any more; other processes wait for its lease to end.
    } finally {
      this.#origin.onEnd();
    }
  }

  async #renew(): Promise<void> {
    const { ticket, directory } = this.#origin;
    const startedAt = performance.now();
    if (startedAt - this.#renewedAt >= ticket.leaseMs) return this.#lose();
    try {
      if (await directory.renew(ticket)) this.#renewedAt = startedAt;
      else this.#lose();
    } catch {
      // Tried again until the lease is over.
    }
  }

  #lose(): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#timer);
    this.#lost.abort(
      new LeaseLostError(
        `the lease on ${this.#origin.label} ended before its call did: this process gave no sign of life for ${this.#origin.ticket.leaseMs} ms, and another call may be running`,
      ),
    );
  }
}
