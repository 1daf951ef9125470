import type { EventBody } from "../../events/agent-event.js";
import type { EventFeed, FeedBatch } from "../../ports/event-feed.js";
import type { Slot } from "../../slot/slot.js";
import { sleep, withDeadline } from "../../store-kit/deadline.js";
import { EventBatch } from "./event-batch.js";

/** Longest time between an event and the command that appends it, and characters that make it go at once. */
const BATCH = { ms: 50, chars: 4_096 } as const;

/** Characters of events that wait for the feed, past which they are dropped. */
const MAX_WAITING_CHARS = 1_048_576;

/** Longest time for a command of the feed. */
const COMMAND_MS = 5_000;

/** Longest time for which a call waits for its feed: where it may have to go on in that of an earlier run, and before a step is saved. */
const WAIT_MS = 250;

/** Time for which no call waits for a feed that gave no answer. */
const AWAY_MS = 5_000;

/** Pauses after a command that failed: doubled each time. */
const RETRY_MS = { first: 100, most: 5_000 } as const;

/** Position behind every event. */
export const BEHIND_ALL: number = 2 ** 50;

/** Longest time for which the end of a call is tried to be appended. */
const END_MS = 10_000;

/** Feed of the calls of an agent, and whether it answers. */
export interface SharedFeed {
  readonly feed: EventFeed;
  /** Time until which it counts as away, on the clock of `performance.now()`. */
  awayUntil: number;
  /** Runs whose events wait because the feed does not take them, and why. */
  readonly failures: Map<string, unknown>;
}

/** Run whose events are appended to the feed of its call. */
export interface FedRun {
  readonly slot: Slot;
  readonly callId: string;
  readonly runId: string;
}

/**
 * Numbers the events of one run and appends them to the feed of its call, in batches, beside the run: nothing here fails it,
 * and it waits {@link WAIT_MS} at most.
 *
 * - A run of a call that has no feed yet begins one. Another one keeps its events back until it is known that it goes on with
 *   the earlier run ({@link claim}), or that it only repeats its reply ({@link leave}).
 * - One command is under way at a time. Events that come meanwhile wait; when they are too many they are dropped, which
 *   readers see by the numbers.
 */
export class FeedWriter {
  readonly #shared: SharedFeed;
  readonly #run: FedRun;
  /** Number of the next event. */
  #next = 0;
  #waiting = new EventBatch();
  #hasEnded = false;
  /** Batches that wait go as soon as the command under way has ended. */
  #isDue = false;
  /** Batch that is being appended, or is to be tried again. */
  #sending: (FeedBatch & { readonly first: number }) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Settles when nothing is being sent any more. */
  #sent: Promise<void> | undefined;
  /**
   * - `writes`: the feed is the run's, or will be with its first batch.
   * - `holds`: another run has a feed, and may be under way.
   * - `over`: nothing more is appended.
   */
  #mode: "writes" | "holds" | "over" = "writes";
  /** The feed has taken a batch of this run. */
  #isOwner = false;
  /** The next batch takes the feed over from another run. */
  #takesOver = false;
  /** The run has its session, and is the one whose events count. */
  #isClaimed = false;
  /** Aborts when the last events of an ended call have been tried for long enough. */
  readonly #givenUp = new AbortController();

  constructor(shared: SharedFeed, run: FedRun) {
    this.#shared = shared;
    this.#run = run;
  }

  /** Looks for a feed of an earlier run of the call, behind which the numbers of this one go on. */
  async look(): Promise<void> {
    const { slot, callId } = this.#run;
    // Unless the answer says otherwise: as if there were one, which the first append will show.
    this.#mode = "holds";
    if (this.#isAway) return;
    try {
      const page = await inTime(WAIT_MS, () => this.#shared.feed.read(slot, callId, BEHIND_ALL));
      if (page) this.#next = page.last + 1;
      else this.#mode = "writes";
    } catch {
      this.#countAsAway();
    }
  }

  /** Adds an event; those that begin and end a call go at once. @returns its number */
  push(event: EventBody): number {
    const seq = this.#next++;
    if (this.#mode === "over") return seq;
    // Dropped: the numbers of those that follow tell.
    if (this.#waiting.chars > MAX_WAITING_CHARS) this.#waiting = new EventBatch();
    this.#waiting.add(event);
    this.#hasEnded = event.type === "call_end";
    const isUrgent = this.#hasEnded || event.type === "call_start";
    if (isUrgent || this.#waiting.chars >= BATCH.chars) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), BATCH.ms);
    return seq;
  }

  /**
   * Takes the call's feed over where another run has it: this one holds the session, and is not answered from a record. The
   * numbers of its events may jump here, over those that the other run has appended meanwhile.
   */
  async claim(): Promise<void> {
    this.#isClaimed = true;
    if (this.#mode !== "holds") return;
    this.#mode = "writes";
    this.#takesOver = true;
    await this.flushed();
  }

  /**
   * Appends what waits, and gives the feed time to take it: before a step is saved, so that readers have seen what a successor
   * goes on from.
   */
  async flushed(): Promise<void> {
    this.flush();
    if (this.#sent === undefined || this.#isAway) return;
    await inTime(WAIT_MS, async () => this.#sent).catch(() => this.#countAsAway());
  }

  get #isAway(): boolean {
    return performance.now() < this.#shared.awayUntil;
  }

  #countAsAway(): void {
    this.#shared.awayUntil = performance.now() + AWAY_MS;
  }

  /** Appends what waits, without waiting for it. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.count === 0 && !this.#sending) return;
    this.#isDue = true;
    if (this.#mode === "writes") this.#sent ??= this.#send();
  }

  /** Appends nothing of this run where another one has the feed: the events of the call are there already. */
  leave(): void {
    if (this.#mode === "holds") this.#end();
  }

  /** Resolves when the last events of the run, which has ended, were appended or have been tried for long enough. */
  async settled(): Promise<void> {
    if (this.#mode === "holds") this.#end();
    const timer = setTimeout(() => this.#givenUp.abort(), END_MS).unref();
    await this.#sent;
    clearTimeout(timer);
    this.#end();
  }

  async #send(): Promise<void> {
    for (let pauseMs: number = RETRY_MS.first; this.#mode === "writes"; ) {
      this.#sending ??= this.#nextBatch();
      if (!this.#sending || this.#givenUp.signal.aborted) break;
      if (await this.#append(this.#sending)) {
        this.#sending = undefined;
        pauseMs = RETRY_MS.first;
        if (!this.#isDue) break;
      } else {
        await sleep(pauseMs, this.#givenUp.signal);
        pauseMs = Math.min(pauseMs * 2, RETRY_MS.most);
      }
    }
    this.#sent = undefined;
    if (this.#waiting.count > 0) this.#timer ??= setTimeout(() => this.flush(), BATCH.ms);
  }

  /** @returns false when the batch is to be tried again */
  async #append(batch: FeedBatch & { readonly first: number }): Promise<boolean> {
    const { slot, callId } = this.#run;
    const takesOver = this.#takesOver;
    const sent = takesOver ? { ...batch, first: undefined } : batch;
    let first: number | null;
    try {
      first = await inTime(COMMAND_MS, () => this.#shared.feed.append(slot, callId, sent));
      this.#shared.awayUntil = 0;
      this.#shared.failures.delete(this.#run.runId);
    } catch (error) {
      this.#shared.failures.set(this.#run.runId, error);
      return false;
    }
    if (first !== null) {
      this.#next += first - batch.first;
      this.#takesOver = false;
      this.#isOwner = true;
      return true;
    }
    // Another run has the feed: it took it over, or began it at the same time.
    if (this.#isOwner) this.#end();
    else if (this.#isClaimed) this.#takesOver = true;
    else this.#mode = "holds";
    return this.#isOwner;
  }

  #nextBatch(): (FeedBatch & { readonly first: number }) | undefined {
    const { count } = this.#waiting;
    this.#isDue = false;
    if (count === 0) return undefined;
    const body = this.#waiting.text();
    this.#waiting = new EventBatch();
    const { runId } = this.#run;
    return { runId, first: this.#next - count, count, body, ends: this.#hasEnded };
  }

  #end(): void {
    this.#mode = "over";
    this.#shared.failures.delete(this.#run.runId);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = new EventBatch();
  }
}

function inTime<T>(ms: number, run: () => Promise<T>): Promise<T> {
  return withDeadline(
    async () => run(),
    ms,
    () => new Error(`no answer within ${ms} ms`),
  );
}
