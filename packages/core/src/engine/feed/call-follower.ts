import { StoreError } from "../../errors/store-errors.js";
import type { AgentEvent } from "../../events/agent-event.js";
import type { EventFeed, FeedPage, StoredBatch } from "../../ports/event-feed.js";
import type { Slot } from "../../slot/slot.js";
import { sleep } from "../../store-kit/deadline.js";
import { readBatch } from "./event-batch.js";

/** Pauses between two reads without news: of a feed that wakes its readers, and the shortest and longest of one that does not. */
const PAUSE_MS = { woken: 2_000, first: 25, most: 500 } as const;

/** Time without news after which the call is looked for at the gate, and the same once its run is lost. */
const QUIET_MS = { running: 2_000, lost: 30_000 } as const;

/** Time for which a call that is nowhere to be found may not have ended. */
const MISSING_MS = 30_000;

/** Characters of recent batches that readers of a call share. */
const MAX_WINDOW_CHARS = 262_144;

/** Batch whose events have been read. */
export interface EventsOfBatch {
  readonly runId: string;
  readonly first: number;
  readonly last: number;
  readonly events: readonly AgentEvent[];
}

/** Next piece for a reader: events, the loss of a run, or the end, also one that the feed does not have. */
export type NextInFeed =
  | { readonly batches: readonly EventsOfBatch[] }
  | { readonly lost: string }
  | { readonly replied: string; readonly runId: string }
  | "end";

/** Whereabouts of a call whose feed is silent: `replied` is the reason with which it ended. */
export type Whereabouts = "running" | "lost" | "missing" | { readonly replied: string };

/** Dependencies of a {@link CallFollower}. */
export interface FollowedCall {
  readonly feed: EventFeed;
  readonly slot: Slot;
  readonly callId: string;
  whereabouts(): Promise<Whereabouts>;
  onUnused(): void;
}

/**
 * Follows the feed of one call for all readers of this process: it reads what is new once, and keeps the most recent of it.
 * Readers that are further behind read for themselves, those at the same place together.
 */
export class CallFollower {
  readonly #call: FollowedCall;
  /** The most recent batches: all that are behind `#windowAfter`. */
  #window: (EventsOfBatch & { readonly chars: number })[] = [];
  #windowAfter: number;
  #windowChars = 0;
  #last: number;
  #runId: string;
  #ended: boolean;
  /** The run that the feed belongs to lost its process. */
  #lostRunId: string | undefined;
  #missingSince: number | undefined;
  /** Reason with which the call ended, as seen by the last look. */
  #replied: string | undefined;
  /** Reads under way of readers that are behind the window, by position. */
  readonly #reads = new Map<number, Promise<readonly EventsOfBatch[] | null>>();
  readonly #stop = new AbortController();
  #readers = 0;
  #following: Promise<void> | undefined;
  #news = promiseOf();
  /** Aborts when there may be something to read. */
  #wake = new AbortController();

  /** @param page - what the feed held when it was found */
  constructor(call: FollowedCall, { runId, last, ended }: FeedPage) {
    this.#call = call;
    this.#runId = runId;
    this.#last = last;
    this.#windowAfter = last;
    this.#ended = ended;
  }

  /** True when nothing more can come from it. */
  get isOver(): boolean {
    return this.#ended || this.#stop.signal.aborted;
  }

  join(): void {
    this.#readers++;
    this.#following ??= this.#follow();
  }

  leave(): void {
    if (--this.#readers === 0) this.close();
  }

  /** Ends it for all readers, with an error if one is given. */
  close(why?: Error): void {
    this.#stop.abort(why ?? null);
    this.#wake.abort();
    this.#news.resolve();
    this.#call.onUnused();
  }

  /**
   * Waits for what comes behind a position.
   *
   * @param told - the lost run that the reader knows of
   * @throws the error with which it was closed
   */
  async next(after: number, told: string | undefined, signal?: AbortSignal): Promise<NextInFeed> {
    while (!signal?.aborted && !this.#stop.signal.aborted) {
      const news = this.#news;
      if (after < this.#windowAfter) {
        const batches = await this.#read(after);
        if (batches === null) break;
        if (batches.length > 0) return { batches };
      }
      const batches = this.#window.filter(({ last }) => last > after);
      if (batches.length > 0) return { batches };
      if (this.#ended)
        return this.#replied === undefined ? "end" : { replied: this.#replied, runId: this.#runId };
      if (this.#lostRunId !== undefined && this.#lostRunId !== told)
        return { lost: this.#lostRunId };
      await orSignal(news.promise, signal);
    }
    if (!signal?.aborted && this.#stop.signal.reason instanceof Error)
      throw this.#stop.signal.reason;
    return "end";
  }

  #read(after: number): Promise<readonly EventsOfBatch[] | null> {
    const { feed, slot, callId } = this.#call;
    const known = this.#reads.get(after);
    if (known) return known;
    const read = this.#retried(() => feed.read(slot, callId, after))
      .then((page) => page?.batches.map((batch) => this.#eventsOf(batch)) ?? null)
      .finally(() => this.#reads.delete(after));
    this.#reads.set(after, read);
    return read;
  }

  async #follow(): Promise<void> {
    const { feed, slot, callId } = this.#call;
    const unwatch = await feed
      .watch?.(slot, callId, () => this.#wake.abort())
      .catch(() => undefined);
    const longestMs = unwatch ? PAUSE_MS.woken : PAUSE_MS.most;
    let pauseMs: number = unwatch ? longestMs : PAUSE_MS.first;
    let quietSince = performance.now();
    while (!this.#stop.signal.aborted && !this.#ended) {
      this.#wake = new AbortController();
      const page = await this.#retried(() => feed.read(slot, callId, this.#last));
      if (this.#stop.signal.aborted) break;
      if (page === null) {
        this.#ended = true;
        break;
      }
      if (page.batches.length > 0 || page.ended) {
        this.#take(page);
        pauseMs = unwatch ? longestMs : PAUSE_MS.first;
        quietSince = performance.now();
        continue;
      }
      const patience = this.#lostRunId === undefined ? QUIET_MS.running : QUIET_MS.lost;
      if (performance.now() - quietSince >= patience) {
        await this.#lookForCall();
        if (this.#ended) break;
        quietSince = performance.now();
      }
      await sleep(pauseMs, this.#wake.signal);
      pauseMs = Math.min(pauseMs * 1.5, longestMs);
    }
    this.#tellNews();
    unwatch?.();
  }

  #take({ batches, last, ended }: FeedPage): void {
    for (const batch of batches) {
      const { length: chars } = batch.body;
      this.#window.push({ ...this.#eventsOf(batch), chars });
      this.#windowChars += chars;
      this.#last = batch.first + batch.count - 1;
      this.#runId = batch.runId;
    }
    while (this.#windowChars > MAX_WINDOW_CHARS && this.#window.length > 1) {
      const oldest = this.#window.shift();
      this.#windowChars -= oldest?.chars ?? 0;
      this.#windowAfter = oldest?.last ?? this.#windowAfter;
    }
    // A page may have less than all there is.
    this.#ended = ended && this.#last >= last;
    this.#lostRunId = undefined;
    this.#missingSince = undefined;
    this.#replied = undefined;
    this.#tellNews();
  }

  async #lookForCall(): Promise<void> {
    const found = await this.#call.whereabouts().catch(() => "running" as const);
    if (found !== "missing") this.#missingSince = undefined;
    if (typeof found === "object") {
      // Its process may be about to append the last events: not before it was seen twice is it taken for dead.
      this.#ended = this.#replied !== undefined;
      this.#replied = found.replied;
      return;
    }
    this.#replied = undefined;
    if (found === "running") this.#lostRunId = undefined;
    if (found === "lost" && this.#lostRunId === undefined) {
      this.#lostRunId = this.#runId;
      this.#tellNews();
    }
    if (found !== "missing") return;
    this.#missingSince ??= performance.now();
    if (performance.now() - this.#missingSince >= MISSING_MS) this.#ended = true;
  }

  #eventsOf(batch: StoredBatch): EventsOfBatch {
    const { runId, first, count } = batch;
    const { slot, callId } = this.#call;
    return { runId, first, last: first + count - 1, events: readBatch(batch, { slot, callId }) };
  }

  #tellNews(): void {
    this.#news.resolve();
    this.#news = promiseOf();
  }

  /** Waits for a feed that is away; null when nothing reads any more. One that is damaged ends the readers with the error. */
  async #retried<T>(read: () => Promise<T | null>): Promise<T | null> {
    for (let pauseMs = 100; !this.#stop.signal.aborted; pauseMs = Math.min(pauseMs * 2, 5_000)) {
      try {
        return await read();
      } catch (error) {
        if (StoreError.is(error) && error.errorClass === "CORRUPT") this.close(error);
        else await sleep(pauseMs, this.#stop.signal);
      }
    }
    return null;
  }
}

function promiseOf(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Resolves with the promise, or when the signal aborts; leaves no listener behind. */
async function orSignal(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return promise;
  let abort = () => {};
  const aborted = new Promise<void>((resolve) => {
    abort = resolve;
    signal.addEventListener("abort", abort, { once: true });
  });
  await Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}
