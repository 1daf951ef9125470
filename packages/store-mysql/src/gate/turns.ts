import { type Revision, StoreError, UnknownOutcomeError } from "@holdfast/core";
import { KeyedQueue } from "@holdfast/core/plugin-kit";
import type { Claim } from "./claim.js";
import type { Claims } from "./claims.js";
import type { LeaseRow } from "./lease-row.js";
import { type LineLimits, type Standing, sessionBusy, type WaitingLine } from "./waiting-line.js";

/** A slot that was taken: it holds the known revision, has no row yet and so no state, or has to be looked at. */
export type Taken = "current" | "new" | "held";

/** How a call wants to wait. */
export interface TurnRequest extends LineLimits {
  /** The revision the caller has cached. */
  known(): Revision | undefined;
  onWait(ahead: number): void;
  /** Throws when the call has given up or the gate is closed. */
  check(): void;
}

/** What {@link Turns} needs. */
export interface TurnParts {
  readonly rows: LeaseRow;
  readonly line: WaitingLine;
  readonly claims: Claims;
  readonly leaseMs: number;
  readonly commandTimeoutMs: number;
  /** The claim waits from now on, and must give signs of life. */
  onJoin(claim: Claim): void;
}

/** How often something whose answer was lost is repeated to find out. */
const ATTEMPTS = 3;

/** Gets claims their turns. */
export class Turns {
  readonly #parts: TurnParts;
  readonly #arrivals = new KeyedQueue();

  constructor(parts: TurnParts) {
    this.#parts = parts;
  }

  /** Resolves when the claim holds its slot, to what is known of the state it holds. */
  async take(claim: Claim, request: TurnRequest): Promise<Taken> {
    let ahead = await this.#enter(claim, request);
    let isTold = false;
    const pauses = new Pauses();
    while (typeof ahead === "number") {
      request.check();
      if (ahead > 0 && !isTold) {
        isTold = true;
        request.onWait(ahead);
      }
      if (!this.#parts.claims.isFirst(claim)) {
        await claim.alarm.sleep();
        continue;
      }
      const standing = await this.#look(claim);
      // Taken away while this process stood still: to the end of the line.
      if (standing === null) ahead = await this.#enter(claim, request);
      else if (standing !== undefined) {
        if (await this.#tryTurn(claim, standing)) return "held";
        ahead = Math.max(standing.ahead + (standing.isHeld ? 1 : 0), 1);
        if (!request.wait) throw sessionBusy(claim.slot, request, standing.ahead);
      }
      if (typeof ahead === "number") await claim.alarm.sleep(pauses.next(standing?.ahead));
    }
    return ahead;
  }

  /** Takes the slot, or joins the line: then how many are before it. */
  #enter(claim: Claim, request: TurnRequest): Promise<Taken | number> {
    const { rows, line, claims } = this.#parts;
    return this.#arrivals.run(claim.key, async () => {
      for (;;) {
        request.check();
        claim.seenAt = performance.now();
        // Where a call of this process is before it, the statement would be in vain.
        const taken = claims.isTaken(claim.key)
          ? null
          : await this.#known(() => rows.takeFree(claim, request.known()));
        if (taken !== null) return taken;
        const joined = await this.#known(() => line.join(claim, request));
        if (joined !== null) {
          claims.joined(claim, joined.ticket);
          this.#parts.onJoin(claim);
          return joined.ahead;
        }
        if (await this.#known(() => rows.takeNew(claim))) return "new";
      }
    });
  }

  /** Undefined when the store does not answer; that is put up with for as long as the ticket is good. */
  async #look(claim: Claim): Promise<Standing | null | undefined> {
    return this.#tolerant(claim, () => this.#parts.line.look(claim));
  }

  async #tryTurn(claim: Claim, standing: Standing): Promise<boolean> {
    if (standing.hasTurn) return true;
    if (standing.isHeld || standing.ahead > 0) return false;
    const sentAt = performance.now();
    const clears = standing.behind === 0 ? standing.joins : null;
    const hasTurn = await this.#tolerant(claim, () =>
      this.#known(() => this.#parts.rows.takeTurn(claim, clears)),
    );
    if (hasTurn) claim.seenAt = sentAt;
    return hasTurn ?? false;
  }

  async #tolerant<T>(claim: Claim, run: () => Promise<T>): Promise<T | undefined> {
    try {
      return await run();
    } catch (error) {
      const isGood = performance.now() - claim.seenAt < this.#parts.leaseMs;
      if (!StoreError.is(error) || !isGood) throw error;
      return undefined;
    }
  }

  /** Repeats what may have been applied, as a claim recognises its own token; not after it took all its time. */
  async #known<T>(run: () => Promise<T>): Promise<T> {
    const end = performance.now() + this.#parts.commandTimeoutMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        const mayRepeat = attempt < ATTEMPTS && performance.now() < end;
        if (!UnknownOutcomeError.is(error) || !mayRepeat) throw error;
      }
    }
  }
}

/**
 * There is no message when a slot becomes free. Who waits looks often while the line moves and ever less while it stands
 * still, so that it comes late by no more than half of what it has waited; the first in line more often than the others.
 */
class Pauses {
  #ahead: number | undefined;
  #lastMs = 0;

  next(ahead: number | undefined): number {
    const [firstMs, longestMs] = ahead === 0 ? [20, 250] : [50, 1_000];
    const grown = ahead === this.#ahead ? this.#lastMs * 1.5 : 0;
    this.#ahead = ahead;
    this.#lastMs = Math.min(Math.max(grown, firstMs), longestMs);
    return this.#lastMs;
  }
}
