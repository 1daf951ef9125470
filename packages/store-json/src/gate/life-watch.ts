import { type ProcessIdentity, processState } from "../process/process-identity.js";
import type { Ticket } from "./ticket.js";
import type { SeenTicket } from "./ticket-directory.js";

/**
 * Tells which tickets still count.
 *
 * A ticket counts no more when its process is gone, or when it gave no sign of life for its lease. The latter is
 * measured on this process's own steady clock, from when it first saw the last sign: a jump of the wall clock ends
 * nobody's lease. Only where the process cannot be looked up (another container, an earlier boot) the file's age decides.
 */
export class LifeWatch {
  readonly #here: ProcessIdentity;
  readonly #isOwn: (ticket: Ticket) => boolean | undefined;
  readonly #seen = new Map<number, { readonly renewedMs: number; readonly since: number }>();

  /** @param isOwn - for tickets of the same gate: whether it still stands by one; undefined for others' */
  constructor(here: ProcessIdentity, isOwn: (ticket: Ticket) => boolean | undefined) {
    this.#here = here;
    this.#isOwn = isOwn;
  }

  async counts({ ticket, renewedMs }: SeenTicket): Promise<boolean> {
    const own = this.#isOwn(ticket);
    if (own !== undefined) return own;
    const state = await processState(ticket, this.#here);
    if (state === "dead") return false;
    if (state === "unknown" && Date.now() - renewedMs > ticket.leaseMs) return false;
    const before = this.#seen.get(ticket.number);
    if (before?.renewedMs === renewedMs) return performance.now() - before.since <= ticket.leaseMs;
    this.#seen.set(ticket.number, { renewedMs, since: performance.now() });
    return true;
  }
}
