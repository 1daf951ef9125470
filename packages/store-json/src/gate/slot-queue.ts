import type { FSWatcher } from "node:fs";
import type { Claim, EnterAnswer, EnterTerms } from "@holdfast/core/store-kit";
import { watchDirectory } from "../io/directory-change.js";
import { LifeWatch } from "./life-watch.js";
import { type TicketFile, ticketNumber } from "./ticket.js";
import type { TicketDirectory } from "./ticket-directory.js";

/** Fields that all tickets of a gate share. */
export type TicketTerms = Omit<TicketFile, "number" | "callId" | "token">;

/** Polling interval: a watch reports no end of a process, and on some file systems nothing. */
const POLL_MS = 100;
/** Tickets that one command takes at most. */
const ATTEMPTS = 3;

/**
 * Claims of one gate on a slot, first come, first served. The first of them queues with other processes by a ticket, the others
 * wait for it.
 *
 * Of {@link enter} and {@link leave} one runs at a time.
 */
export class SlotQueue {
  readonly #directory: TicketDirectory;
  readonly #terms: TicketTerms;
  readonly #wake: (token: string) => void;
  readonly #life: LifeWatch;
  readonly #claims: (Claim & { heardAt: number })[] = [];
  /** The first claim's ticket; another with this gate's id is left from a release that failed. */
  #held: { readonly ticket: TicketFile; renewedAt: number } | undefined;
  /** Tickets before the first claim's, when it last looked. */
  #elsewhere = 0;
  #watcher: FSWatcher | undefined;

  constructor(directory: TicketDirectory, terms: TicketTerms, wake: (token: string) => void) {
    this.#directory = directory;
    this.#terms = terms;
    this.#wake = wake;
    this.#life = new LifeWatch(terms);
  }

  get claims(): readonly Claim[] {
    return this.#claims;
  }

  /** Asks for the slot; see `LeaseBackend.enter`. */
  async enter(claim: Claim, { mode, maxQueue }: EnterTerms): Promise<EnterAnswer> {
    this.#passOver(claim);
    let place = this.#claims.findIndex(({ token }) => token === claim.token);
    if (place === -1) {
      place = this.#claims.length;
      if (place === 0 && (await this.#takeAgain(claim))) return { kind: "granted" };
      if (mode !== "again") {
        const most = mode === "refuse" ? 0 : maxQueue;
        const ahead = place > 0 ? place + this.#elsewhere : await this.#countUnlessFew(most);
        if (ahead > most) return { kind: "busy", waiting: ahead - 1 };
      }
      this.#claims.push({ ...claim, heardAt: performance.now() });
    }
    if (place > 0)
      return { kind: "wait", ahead: place + this.#elsewhere, dueMs: this.#terms.leaseMs };
    const ahead = await this.#ticketsAhead(claim);
    this.#elsewhere = ahead;
    if (ahead === 0) {
      this.close();
      return { kind: "granted" };
    }
    if (mode === "refuse") {
      await this.leave(claim);
      return { kind: "busy", waiting: ahead - 1 };
    }
    return { kind: "wait", ahead, dueMs: POLL_MS };
  }

  /** Renews the first claim's ticket; false when it has been taken away, or may have been. */
  async renew({ token }: Claim): Promise<boolean> {
    const [first] = this.#claims;
    if (first?.token !== token) return false;
    first.heardAt = performance.now();
    return this.#keepTicket(Number.POSITIVE_INFINITY);
  }

  /** Removes a claim; the next one is woken. */
  async leave({ token }: Claim): Promise<void> {
    const place = this.#claims.findIndex((each) => each.token === token);
    try {
      if (place === 0) await this.#giveBack();
    } finally {
      if (place > 0) this.#claims.splice(place, 1);
      if (place === 0) this.#dropFirst();
    }
  }

  /** Returns the tickets that count, in order, of this gate and others. One that is getting its number may have two. */
  async tickets(): Promise<TicketFile[]> {
    const tickets = new Map<string, TicketFile>();
    for (const number of await this.#numbers()) {
      const ticket = await this.#readTicket(number);
      if (ticket !== null) tickets.set(ticket.token, ticket);
    }
    return [...tickets.values()];
  }

  /** Returns how many tickets count; where there are no more files than `most`, how many those are, without reading them. */
  async #countUnlessFew(most: number): Promise<number> {
    const { length } = await this.#numbers();
    return length > most ? (await this.tickets()).length : length;
  }

  /** Ends the watch for changes. */
  close(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Notes that a claim was heard of, and removes those in front that were not for the length of a lease. */
  #passOver({ token }: Claim): void {
    const now = performance.now();
    for (const claim of this.#claims) if (claim.token === token) claim.heardAt = now;
    while (now - (this.#claims[0]?.heardAt ?? now) > this.#terms.leaseMs) this.#dropFirst();
  }

  #dropFirst(): void {
    this.#claims.shift();
    this.#directory.forget();
    this.#held = undefined;
    this.#elsewhere = 0;
    this.close();
    const [next] = this.#claims;
    if (next !== undefined) this.#wake(next.token);
  }

  /** Takes the slot at once, where no other process came since this gate had it last; see `TicketDirectory.takeAgain`. */
  async #takeAgain(claim: Claim): Promise<boolean> {
    const { token, callId } = claim;
    const renewedAt = performance.now();
    const ticket = await this.#directory.takeAgain({ token, callId, ...this.#terms });
    if (ticket === null) return false;
    this.#held = { ticket, renewedAt };
    if (await this.#keepTicket(renewedAt)) {
      this.#claims.push({ ...claim, heardAt: performance.now() });
      return true;
    }
    await this.#giveBack();
    return false;
  }

  /** Returns how many tickets that count are before the first claim's, which is taken if it has none. */
  async #ticketsAhead({ token, callId }: Claim): Promise<number> {
    const startedAt = performance.now();
    for (let attempt = 1; ; attempt++) {
      let numbers: readonly number[] | undefined;
      if (this.#held === undefined) {
        const renewedAt = performance.now();
        const taken = await this.#directory.take({ token, callId, ...this.#terms });
        this.#held = { ticket: taken.ticket, renewedAt };
        numbers = taken.numbers;
      }
      const { number } = this.#held.ticket;
      let ahead = await this.#countBefore(number, numbers ?? (await this.#numbers()));
      if (ahead && this.#watcher === undefined) {
        this.#watch(token);
        ahead = await this.#countBefore(number, await this.#numbers());
      }
      // A lease counts from when the command that brought it was sent: the ticket must have been renewed since.
      const dueAt = ahead === 0 ? startedAt : performance.now() - this.#terms.leaseMs / 3;
      if (ahead !== null && (await this.#keepTicket(dueAt))) return ahead;
      // Taken away while it waited, since this process stood still for too long: to the end of the queue.
      await this.#giveBack();
      // The disk is too slow for so short a lease: others get their turn before it is tried again.
      if (attempt === ATTEMPTS) return 1;
    }
  }

  /**
   * Renews the ticket if it was last renewed before `dueAt`; false when it was taken away, or was not renewed for its lease:
   * another process may be about to take it away then.
   */
  async #keepTicket(dueAt: number): Promise<boolean> {
    const held = this.#held;
    if (held === undefined) return false;
    const { ticket, renewedAt } = held;
    if (renewedAt < dueAt) {
      const now = performance.now();
      if (!(await this.#directory.renew(ticket))) return false;
      held.renewedAt = now;
    }
    return performance.now() - renewedAt < ticket.leaseMs;
  }

  async #giveBack(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) await this.#directory.giveBack(held.ticket);
  }

  /**
   * Counts the tickets before this one; null when this one is gone. Those that count no more are removed, so that their holders
   * notice.
   *
   * @param numbers - of all tickets, as of now
   */
  async #countBefore(number: number, numbers: readonly number[]): Promise<number | null> {
    let count = 0;
    if (!numbers.includes(number)) return null;
    for (const lower of numbers) {
      if (lower >= number) break;
      if ((await this.#readTicket(lower)) !== null) count++;
      else this.#directory.remove(lower);
    }
    return count;
  }

  async #numbers(): Promise<number[]> {
    const numbers = await this.#directory.numbers();
    this.#life.keepOnly(numbers);
    return numbers;
  }

  /** Returns a ticket, if it counts. */
  async #readTicket(number: number): Promise<TicketFile | null> {
    const seen = this.#directory.read(number);
    if (seen === null) return null;
    const isOwn = seen.ticket.gate === this.#terms.gate;
    const counts = isOwn
      ? this.#held?.ticket.number === number
      : await this.#life.counts(seen, () => this.#directory.isOverdue(seen));
    return counts ? seen.ticket : null;
  }

  /** Wakes the claim when a ticket comes or goes; renewals, which only change a file's time, do not matter. */
  #watch(token: string): void {
    this.#watcher = watchDirectory(this.#directory.path, (change, name) => {
      if (change === "rename" && (name === null || ticketNumber(name) !== null)) this.#wake(token);
    });
  }
}
