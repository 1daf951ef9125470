import type { Slot } from "@holdfast/core";
import { type Claim, slotText } from "@holdfast/core/store-kit";
import type { PreparedEntry } from "../inbox/inbox-column.js";
import { slotHash } from "../keys.js";

/** Claim of this process on a slot, with what this process knows of it. */
export class LocalClaim implements Claim {
  readonly slot: Slot;
  readonly token: string;
  readonly callId: string;
  readonly tokenBytes: Buffer;
  readonly callIdBytes: Buffer;
  readonly k: Buffer;
  /** Names the slot in maps. */
  readonly key: string;
  /** Number of its place in the queue, while it waits. */
  ticket: number | undefined;
  /** Time when the place was last renewed, on the clock of `performance.now()`. */
  renewedAt = 0;
  /** The lease is this claim's, or may be: the answer was lost. */
  mayHold = false;
  /** The claim has a place in the queue, or may have: the answer was lost. */
  mayWait = false;
  /** The slot's row may hold nothing but the lease. */
  mayBeEmpty = true;
  /** Entry to put into the inbox with the grant. */
  put: PreparedEntry | undefined;
  /** Bytes of signals that were seen beside it. */
  signalBytes = 0;
  readonly pauses: Pauses = new Pauses();

  constructor({ slot, token, callId }: Claim) {
    this.slot = slot;
    this.token = token;
    this.callId = callId;
    this.tokenBytes = Buffer.from(token, "utf8");
    this.callIdBytes = Buffer.from(callId, "utf8");
    this.k = slotHash(slot);
    this.key = slotText(slot);
  }
}

/** Longest pause between two polls of the call that is next. */
export const LONGEST_PAUSE_MS = 250;
/** First and longest pause, for the call that is next and for others. */
const [NEXT_MS, BEHIND_MS] = [
  [4, LONGEST_PAUSE_MS],
  [20, 1_000],
] as const;
const GROWTH = 1.4;

/**
 * Pauses between two polls of a waiting call, as MySQL sends no message when a slot becomes free. They start short whenever
 * the queue moves and grow while it stands still, so that a turn comes late by no more than half of the wait for it.
 */
class Pauses {
  #ahead: number | undefined;
  #lastMs = 0;

  /** Returns the next pause; calls that are next poll more often than the others. */
  next(ahead: number): number {
    const [firstMs, longestMs] = ahead === 0 ? NEXT_MS : BEHIND_MS;
    const grown = ahead === this.#ahead ? this.#lastMs * GROWTH : 0;
    this.#ahead = ahead;
    this.#lastMs = Math.min(Math.max(grown, firstMs), longestMs);
    return this.#lastMs;
  }
}
