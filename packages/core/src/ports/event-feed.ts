import type { Slot } from "../slot/slot.js";
import type { Reach } from "./agent-state-store.js";

/** Consecutive events of one run, as its process appends them to the feed of their call. */
export interface FeedBatch {
  /** Run that emitted the events. */
  readonly runId: string;
  /**
   * Number of the first event. Absent from the first batch of a run that goes on with another one of its call: the feed numbers
   * it behind the last event that is there, and belongs to this run from now on.
   */
  readonly first?: number | undefined;
  /** Number of events. */
  readonly count: number;
  /** The events, as text that means nothing to the feed. */
  readonly body: string;
  /** The last of the events ends the call. */
  readonly ends: boolean;
}

/** Batch as a feed returns it. */
export interface StoredBatch {
  readonly runId: string;
  readonly first: number;
  readonly count: number;
  readonly body: string;
}

/** Part of the feed of a call. */
export interface FeedPage {
  /** Batches with events behind the position asked for, in order: not necessarily all, but one at least when there are any. */
  readonly batches: readonly StoredBatch[];
  /** Run that the feed belongs to. */
  readonly runId: string;
  /** Number of the last event in the feed. */
  readonly last: number;
  /** True when the last event ends the call. */
  readonly ended: boolean;
}

/**
 * Keeps the events of calls for a while, so that any process can read them while the call runs and shortly after.
 *
 * Contract:
 * - The feed of a call belongs to the run that began it, until another run takes it over with a batch without `first`. Batches of
 *   any other run are refused.
 * - `append` is idempotent: a batch whose `first` is not behind the last event there, or a take-over by the run that has the
 *   feed, changes nothing.
 * - Numbers may be missing, where a process could not append, or where a feed that is full has dropped its oldest batches. A
 *   feed never holds more than its bound and one batch.
 * - A feed that has ended is gone some time after; one that never ended, some longer time after its last batch.
 * - Feeds of different slots and calls know nothing of each other.
 */
export interface EventFeed {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  /**
   * Appends a batch.
   *
   * @returns the number of its first event; null when the feed is that of another run, and nothing was appended
   */
  append(slot: Slot, callId: string, batch: FeedBatch): Promise<number | null>;
  /**
   * Reads the batches with events behind a position.
   *
   * @param after - number of the last event that is known; -1 for all
   * @returns null when there is no feed of this call
   */
  read(slot: Slot, callId: string, after: number): Promise<FeedPage | null>;
  /** Returns the calls of a slot whose feeds have not ended, in the order in which they began. */
  open(slot: Slot): Promise<readonly string[]>;
  /** Removes all feeds of a slot. */
  delete(slot: Slot): Promise<void>;
  /**
   * Calls `wake` when a batch may have come. Wake-ups only make things quick: whatever they announce is also found by reading.
   * Absent: readers poll.
   *
   * @returns the function that ends the watch
   */
  watch?(slot: Slot, callId: string, wake: () => void): Promise<() => void>;
}
