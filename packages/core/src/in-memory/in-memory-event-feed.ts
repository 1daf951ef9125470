import type { EventFeed, FeedBatch, FeedPage, StoredBatch } from "../ports/event-feed.js";
import { checkId, checkSlot, type Slot, slotText } from "../slot/slot.js";
import { longestTimerMs } from "../store-kit/deadline.js";
import {
  type FeedHead,
  type FeedLimits,
  feedLimits,
  feedStep,
  pageOf,
} from "../store-kit/feed/feed-limits.js";

interface CallFeed {
  head: FeedHead;
  readonly batches: StoredBatch[];
  chars: number;
  expiry: NodeJS.Timeout;
}

/**
 * Keeps the events of calls in this process: the reference event feed.
 *
 * @example
 * const eventFeed = new InMemoryEventFeed({ keepMs: 60_000 });
 */
export class InMemoryEventFeed implements EventFeed {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #limits: ReturnType<typeof feedLimits>;
  /** Feeds by slot and call, in the order in which they began. */
  readonly #slots = new Map<string, Map<string, CallFeed>>();
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(limits: FeedLimits = {}) {
    this.#limits = feedLimits(limits, "InMemoryEventFeed");
  }

  /** Number of calls that have a feed, for monitoring. */
  get size(): number {
    return [...this.#slots.values()].reduce((sum, feeds) => sum + feeds.size, 0);
  }

  async append(slot: Slot, callId: string, batch: FeedBatch): Promise<number | null> {
    const key = slotText(checkSlot(slot));
    const id = checkId(callId, "callId");
    const feeds = this.#slots.get(key) ?? new Map<string, CallFeed>();
    const known = feeds.get(id);
    const { first, head } = feedStep(known?.head, batch);
    if (first === null || !head) return first;
    const expiry = this.#expire(key, id, head.ended);
    const feed = known ?? { head, batches: [], chars: 0, expiry };
    clearTimeout(known?.expiry);
    Object.assign(feed, { head, expiry });
    const { runId, count, body } = batch;
    feed.batches.push(Object.freeze({ runId, first, count, body }));
    feed.chars += body.length;
    while (feed.chars > this.#limits.maxChars && feed.batches.length > 1)
      feed.chars -= feed.batches.shift()?.body.length ?? 0;
    this.#slots.set(key, feeds.set(id, feed));
    for (const wake of this.#watchers.get(key + id) ?? []) wake();
    return first;
  }

  async read(slot: Slot, callId: string, after: number): Promise<FeedPage | null> {
    const feed = this.#slots.get(slotText(checkSlot(slot)))?.get(checkId(callId, "callId"));
    if (!feed) return null;
    const { runId, last, ended } = feed.head;
    const from = feed.batches.findIndex(({ first, count }) => first + count - 1 > after);
    return { batches: from < 0 ? [] : pageOf(feed.batches.slice(from)), runId, last, ended };
  }

  async open(slot: Slot): Promise<readonly string[]> {
    const feeds = this.#slots.get(slotText(checkSlot(slot))) ?? new Map<string, CallFeed>();
    return [...feeds].flatMap(([callId, { head }]) => (head.ended ? [] : [callId]));
  }

  async delete(slot: Slot): Promise<void> {
    const key = slotText(checkSlot(slot));
    for (const callId of [...(this.#slots.get(key)?.keys() ?? [])]) this.#remove(key, callId);
  }

  async watch(slot: Slot, callId: string, wake: () => void): Promise<() => void> {
    const key = slotText(checkSlot(slot)) + checkId(callId, "callId");
    const watchers = this.#watchers.get(key) ?? new Set();
    // A function of its own, so that one wake-up can be given twice.
    const watcher = () => wake();
    this.#watchers.set(key, watchers.add(watcher));
    return () => {
      if (watchers.delete(watcher) && watchers.size === 0) this.#watchers.delete(key);
    };
  }

  #expire(key: string, callId: string, ended: boolean): NodeJS.Timeout {
    const ms = ended ? this.#limits.keepMs : this.#limits.openMs;
    return setTimeout(() => this.#remove(key, callId), Math.min(ms, longestTimerMs)).unref();
  }

  #remove(key: string, callId: string): void {
    const feeds = this.#slots.get(key);
    clearTimeout(feeds?.get(callId)?.expiry);
    if (feeds?.delete(callId) && feeds.size === 0) this.#slots.delete(key);
    for (const wake of this.#watchers.get(key + callId) ?? []) wake();
  }
}
