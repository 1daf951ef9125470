import type { EventFeed, Slot } from "@holdfast/core";
import {
  checkId,
  checkSlot,
  describeSlot,
  FEED_PAGE_CHARS,
  type FeedBatch,
  type FeedLimits,
  type FeedPage,
  feedLimits,
  type StoredBatch,
} from "@holdfast/core/store-kit";
import { connect, type RedisConnection } from "../connection/redis-connection.js";
import { isText, listOf } from "../connection/reply-shape.js";
import { feedKey, partKey } from "../keys.js";
import { type RedisPartOptions, readOptions } from "../options.js";
import { appendScript, deleteScript, openScript, readScript } from "./feed-scripts.js";

/** Options of {@link RedisEventFeed}. */
export interface RedisEventFeedOptions extends RedisPartOptions, FeedLimits {}

/** Feeds deleted by one command. */
const DELETED_AT_ONCE = 1_000;

/**
 * Keeps the events of calls in Redis, for readers on every node: a stream for each call, with a time to live.
 *
 * Contract, beyond {@link EventFeed}'s:
 * - A batch is one script; readers are woken by a message and read with one script.
 * - What the server does not have after a failover or a restart is missing; no call depends on it.
 *
 * @example
 * const eventFeed = new RedisEventFeed({ client: new Redis(), keepMs: 60_000 });
 */
export class RedisEventFeed implements EventFeed {
  readonly contract = 1;
  readonly kind = "redis";
  readonly reach = "distributed";
  readonly #connection: RedisConnection;
  readonly #keyPrefix: string;
  readonly #limits: ReturnType<typeof feedLimits>;
  readonly #isShared: boolean;

  /**
   * @param shared - connection of the store this is the feed of; without it the feed makes its own
   * @throws ConfigurationError
   */
  constructor(options: RedisEventFeedOptions, shared?: RedisConnection) {
    const { keepMs, openMs, maxChars, ...part } = options;
    const resolved = readOptions("RedisEventFeed", part, [
      "client",
      "keyPrefix",
      "commandTimeoutMs",
    ]);
    this.#limits = feedLimits({ keepMs, openMs, maxChars }, "RedisEventFeed");
    this.#keyPrefix = resolved.keyPrefix;
    this.#connection = shared ?? connect(resolved.client, resolved);
    this.#isShared = shared !== undefined;
  }

  async append(slot: Slot, callId: string, batch: FeedBatch): Promise<number | null> {
    const owner = checkSlot(slot);
    const keys = this.#keysOf(owner, checkId(callId, "callId"));
    const { runId, first = "", count, body, ends } = batch;
    const { keepMs, openMs, maxChars } = this.#limits;
    const args = [callId, runId, first, count, ends ? 1 : 0, body, keepMs, openMs, maxChars];
    const what = `appending events of ${describeSlot(owner)}`;
    const reply = await this.#connection.run(what, appendScript, keys, [...args, keys[1]]);
    return typeof reply === "number" ? reply : null;
  }

  async read(slot: Slot, callId: string, after: number): Promise<FeedPage | null> {
    const owner = checkSlot(slot);
    const keys = this.#keysOf(owner, checkId(callId, "callId"));
    const what = `reading events of ${describeSlot(owner)}`;
    const args = [callId, after, FEED_PAGE_CHARS];
    const reply = await this.#connection.run(what, readScript, keys, args);
    if (!Array.isArray(reply)) return null;
    const [runId = "", last, ended, ...rest] = reply.map(String);
    const batches: StoredBatch[] = [];
    for (let at = 0; at + 3 < rest.length; at += 4) {
      const [first, count, run = "", body = ""] = rest.slice(at, at + 4);
      batches.push({ runId: run, first: Number(first), count: Number(count), body });
    }
    return { batches, runId, last: Number(last), ended: ended === "1" };
  }

  async open(slot: Slot): Promise<readonly string[]> {
    const owner = checkSlot(slot);
    const what = `listing the running calls of ${describeSlot(owner)}`;
    const keys = [partKey(this.#keyPrefix, owner, "feeds")];
    const reply = await this.#connection.run(what, openScript, keys, []);
    return Array.isArray(reply) ? reply.map(String) : [];
  }

  async delete(slot: Slot): Promise<void> {
    const owner = checkSlot(slot);
    const what = `deleting the events of ${describeSlot(owner)}`;
    const heads = partKey(this.#keyPrefix, owner, "feeds");
    const reply = await this.#connection.send(what, "HKEYS", [heads], { reply: listOf(isText) });
    const calls = (Array.isArray(reply) ? reply.map(String) : []).filter((call) => call !== "");
    const feeds = calls.map((call) => feedKey(this.#keyPrefix, owner, call));
    do {
      const some = feeds.splice(0, DELETED_AT_ONCE);
      // The heads go last: what was left by a failure is found again.
      const keys = feeds.length === 0 ? [heads, ...some] : some;
      await this.#connection.run(what, deleteScript, keys, []);
    } while (feeds.length > 0);
  }

  async watch(slot: Slot, callId: string, wake: () => void): Promise<() => void> {
    const [, channel = ""] = this.#keysOf(checkSlot(slot), checkId(callId, "callId"));
    const listener = { onMessage: () => wake(), onGap: () => wake() };
    const subscription = await this.#connection.subscribe(channel, listener);
    return () => void subscription.close().catch(() => undefined);
  }

  /** Ends the connection made here. */
  async close(): Promise<void> {
    if (!this.#isShared) await this.#connection.close();
  }

  #keysOf(slot: Slot, callId: string): [heads: string, batches: string] {
    return [partKey(this.#keyPrefix, slot, "feeds"), feedKey(this.#keyPrefix, slot, callId)];
  }
}
