import type { EventFeed, Slot } from "@holdfast/core";
import { BoundedMap } from "@holdfast/core/plugin-kit";
import {
  checkId,
  checkSlot,
  describeSlot,
  ExpirySweep,
  type FeedBatch,
  type FeedLimits,
  type FeedPage,
  feedLimits,
  feedStep,
} from "@holdfast/core/store-kit";
import { Database } from "../connection/database.js";
import { openDatabase } from "../connection/open-database.js";
import { digest, slotHash } from "../keys.js";
import { type MysqlPartOptions, partOptions, readOptions } from "../options.js";
import { type FeedKey, FeedRows } from "./feed-rows.js";

/** Options of a {@link MysqlEventFeed}. */
export interface MysqlEventFeedOptions extends MysqlPartOptions, FeedLimits {}

/** Attempts at a batch that another process comes in between of. */
const ATTEMPTS = 20;

/** Calls for which this process remembers how much it has appended. */
const CALLS_KNOWN = 1_000;

/** Part of the bound by which a feed may be too long before its oldest batches are dropped. */
const SLACK = 0.1;

/**
 * Keeps the events of calls in MySQL or MariaDB, for readers on every node: a row for each batch. Readers poll.
 *
 * Contract, beyond {@link EventFeed}'s:
 * - A batch is one statement; one more in about every tenth part of `maxChars` past that bound.
 * - Feeds that have expired are removed in the background.
 * - Constructing does no I/O; the pool stays the caller's.
 *
 * @example
 * const eventFeed = new MysqlEventFeed({ pool, keepMs: 60_000 });
 */
export class MysqlEventFeed implements EventFeed {
  readonly contract = 1;
  readonly kind = "mysql";
  readonly reach = "distributed";
  readonly #rows: FeedRows;
  readonly #limits: ReturnType<typeof feedLimits>;
  readonly #sweep: ExpirySweep;
  /** Bytes appended here since the last time that batches were dropped, by call. */
  readonly #appended = new BoundedMap<string, number>({ maxEntries: CALLS_KNOWN });

  /**
   * @param options - or a `Database` shared by several parts
   * @throws ConfigurationError
   */
  constructor(options: MysqlEventFeedOptions | Database) {
    if (options instanceof Database) {
      this.#limits = feedLimits({}, "MysqlEventFeed");
      this.#rows = new FeedRows(options, this.#limits);
    } else {
      const { keepMs, openMs, maxChars, ...part } = options;
      this.#limits = feedLimits({ keepMs, openMs, maxChars }, "MysqlEventFeed");
      const database = openDatabase(readOptions("MysqlEventFeed", part, partOptions));
      this.#rows = new FeedRows(database, this.#limits);
    }
    this.#sweep = new ExpirySweep(this.#limits.keepMs, () => this.#rows.sweep());
  }

  async append(slot: Slot, callId: string, batch: FeedBatch): Promise<number | null> {
    const key = feedKey(slot, callId);
    this.#sweep.start();
    // A batch with a number is mostly the next one of its run, and needs no look before.
    let isNext = batch.first !== undefined;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (!isNext) {
        const found = await this.#rows.head(key);
        if (found?.isExpired) await this.#rows.remove(key, found.first);
        const { first, head } = feedStep(found?.isExpired ? undefined : found, batch);
        if (first === null || !head) return first;
        if (await this.#rows.insert(key, { ...batch, first }, found?.runId ?? batch.runId))
          return this.#bound(key, first, batch.body.length);
      } else if (await this.#rows.insert(key, { ...batch, first: batch.first ?? 0 }, batch.runId))
        return this.#bound(key, batch.first ?? 0, batch.body.length);
      isNext = false;
    }
    throw this.#rows.contended(key);
  }

  async read(slot: Slot, callId: string, after: number): Promise<FeedPage | null> {
    const key = feedKey(slot, callId);
    const head = await this.#rows.head(key);
    if (!head || head.isExpired) return null;
    const { runId, last, ended } = head;
    const batches = last > after ? await this.#rows.batches(key, after) : [];
    return { batches, runId, last, ended };
  }

  async open(slot: Slot): Promise<readonly string[]> {
    return this.#rows.open(checkSlot(slot));
  }

  async delete(slot: Slot): Promise<void> {
    await this.#rows.delete(checkSlot(slot));
  }

  /** Ends the timer; the pool is the caller's. */
  async close(): Promise<void> {
    await this.#sweep.stop();
  }

  /** Drops the oldest batches, once the feed may be too long. */
  async #bound(key: FeedKey, first: number, chars: number): Promise<number> {
    const { maxChars } = this.#limits;
    const name = Buffer.concat(key.values).toString("base64");
    const appended = (this.#appended.get(name) ?? 0) + chars;
    const isDue = appended > maxChars;
    this.#appended.set(name, isDue ? maxChars * (1 - SLACK) : appended);
    // What is not dropped now is dropped later.
    if (isDue) await this.#rows.drop(key).catch(() => undefined);
    return first;
  }
}

function feedKey(slot: Slot, callId: string): FeedKey {
  const owner = checkSlot(slot);
  const values = [slotHash(owner), digest(checkId(callId, "callId"))] as const;
  return { values, callId, label: describeSlot(owner) };
}
