import { type ProcessIdentity, processState } from "../process/process-identity.js";
import type { SeenTicket } from "./ticket-directory.js";

/**
 * Tells which tickets of other gates still count.
 *
 * A ticket counts no more when its process is gone, or was not renewed for its lease. The latter is measured on this process's
 * monotonic clock, from when the last renewal was first seen: a jump of the wall clock ends no lease. Only where the
 * process cannot be looked up (another container, an earlier boot) the file's age decides, by the file system's clock.
 */
export class LifeWatch {
  readonly #here: ProcessIdentity;
  readonly #seen = new Map<number, { readonly renewedMs: number; readonly since: number }>();

  constructor(here: ProcessIdentity) {
    this.#here = here;
  }

  /** Forgets all tickets but these: the numbers of the others do not come again. */
  keepOnly(numbers: readonly number[]): void {
    for (const number of this.#seen.keys())
      if (!numbers.includes(number)) this.#seen.delete(number);
  }

  /** @param isOverdue - tells whether the ticket was last renewed longer ago than its lease, by the file system's clock */
  async counts(seen: SeenTicket, isOverdue: () => Promise<boolean>): Promise<boolean> {
    const { ticket, renewedMs, readAt } = seen;
    const state = processState(ticket, this.#here);
    if (state === "dead") return false;
    if (state === "unknown" && (await isOverdue())) return false;
    const before = this.#seen.get(ticket.number);
    // From before the file was read: a renewal that this reading has missed came after the lease was over.
    if (before?.renewedMs === renewedMs) return readAt - before.since <= ticket.leaseMs;
    this.#seen.set(ticket.number, { renewedMs, since: performance.now() });
    return true;
  }
}
