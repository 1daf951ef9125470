import { type Slot, StoreUnavailableError } from "@holdfast/core";
import {
  describeSlot,
  FEED_PAGE_CHARS,
  type FeedBatch,
  type FeedHead,
  type FeedLimits,
  type StoredBatch,
} from "@holdfast/core/store-kit";
import { asBytes, asNumber, asText } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";

/** Rows of one page at most. */
const PAGE_ROWS = 100;

/** Feeds looked at by one run of the sweep. */
const SWEPT_AT_ONCE = 100;

const NOW = "UTC_TIMESTAMP(6)";

/** Location of a call's feed. */
interface FeedPlace {
  /** Values of the columns `k` and `c`. */
  readonly values: readonly [k: Buffer, c: Buffer];
  /** The session, for errors. */
  readonly label: string;
}

/** Name of a call's feed. */
export interface FeedKey extends FeedPlace {
  readonly callId: string;
}

/** Head of a feed, from its last row. */
export interface StoredHead extends FeedHead {
  /** Number of the first event of the last batch. */
  readonly first: number;
  readonly isExpired: boolean;
}

/** Rows of the table of feeds. */
export class FeedRows {
  readonly #database: Database;
  readonly #limits: { readonly [K in keyof FeedLimits]-?: number };

  constructor(database: Database, limits: { readonly [K in keyof FeedLimits]-?: number }) {
    this.#database = database;
    this.#limits = limits;
  }

  /**
   * Inserts a batch behind the last one.
   *
   * @param behind - run that the feed must belong to, if there is one
   * @returns false when it does not, or when the batch is there
   */
  async insert(
    { values, callId, label }: FeedKey,
    batch: FeedBatch & { readonly first: number },
    behind: string,
  ): Promise<boolean> {
    const { runId, first, count, ends } = batch;
    const table = this.#database.tables.feeds;
    const run = Buffer.from(runId, "utf8");
    const body = Buffer.from(batch.body, "utf8");
    const { keepMs, openMs } = this.#limits;
    return this.#database.insert(
      `appending events of ${label}`,
      `INSERT INTO ${table} (k, c, first, last, run, run_first, ended, total, began, expires, call_id, body)
SELECT ?, ?, ?, ?, ?, IF(h.run = ?, h.run_first, ?), ?, COALESCE(h.total, 0) + ?, COALESCE(h.began, ${NOW}), ${NOW} + INTERVAL ? MICROSECOND, ?, ?
FROM (SELECT 1 AS one) AS single LEFT JOIN (
  SELECT run, run_first, last, total, began, expires FROM ${table} WHERE k = ? AND c = ? ORDER BY first DESC LIMIT 1
) AS h ON 1 = 1
WHERE h.run IS NULL OR (h.run = ? AND h.last < ? AND h.expires > ${NOW})`,
      [
        ...[...values, first, first + count - 1, run, run, first, ends ? 1 : 0],
        ...[body.length, (ends ? keepMs : openMs) * 1_000, Buffer.from(callId, "utf8"), body],
        ...[...values, Buffer.from(behind, "utf8"), first],
      ],
    );
  }

  async head({ values, label }: FeedPlace): Promise<StoredHead | undefined> {
    const [row] = await this.#database.read(
      `reading events of ${label}`,
      `SELECT first, last, run, run_first, ended, expires <= ${NOW} FROM ${this.#database.tables.feeds} WHERE k = ? AND c = ? ORDER BY first DESC LIMIT 1`,
      values,
    );
    return (
      row && {
        first: asNumber(row[0]),
        last: asNumber(row[1]),
        runId: asText(row[2]),
        runFirst: asNumber(row[3]),
        ended: asNumber(row[4]) === 1,
        isExpired: asNumber(row[5]) === 1,
      }
    );
  }

  /** Returns a page of batches with events behind a position. */
  async batches({ values, label }: FeedKey, after: number): Promise<StoredBatch[]> {
    const rows = await this.#database.read(
      `reading events of ${label}`,
      `SELECT first, last, run, body FROM ${this.#database.tables.feeds} WHERE k = ? AND c = ? AND last > ? AND total <= (SELECT bound FROM (SELECT MIN(total) + ? AS bound FROM ${this.#database.tables.feeds} WHERE k = ? AND c = ? AND last > ?) AS page) ORDER BY first LIMIT ${PAGE_ROWS}`,
      [...values, after, FEED_PAGE_CHARS, ...values, after],
    );
    return rows.map(([start, last, run, body]) => {
      const first = asNumber(start);
      return { runId: asText(run), first, count: asNumber(last) - first + 1, body: asText(body) };
    });
  }

  /** Returns the calls of a slot whose feeds have not ended, in the order in which they began. */
  async open(slot: Slot): Promise<string[]> {
    const table = this.#database.tables.feeds;
    const k = slotHash(slot);
    const rows = await this.#database.read(
      `listing the running calls of ${describeSlot(slot)}`,
      `SELECT f.call_id FROM (SELECT c, MAX(first) AS first FROM ${table} WHERE k = ? GROUP BY c) AS h
JOIN ${table} AS f ON f.k = ? AND f.c = h.c AND f.first = h.first
WHERE f.ended = 0 AND f.expires > ${NOW} ORDER BY f.began, f.call_id`,
      [k, k],
    );
    return rows.map(([callId]) => asText(callId));
  }

  async delete(slot: Slot): Promise<void> {
    await this.#database.write(
      `deleting the events of ${describeSlot(slot)}`,
      `DELETE FROM ${this.#database.tables.feeds} WHERE k = ?`,
      [slotHash(slot)],
    );
  }

  /** Removes a feed up to a batch. */
  async remove({ values, label }: FeedPlace, first: number): Promise<void> {
    await this.#database.write(
      `removing expired events of ${label}`,
      `DELETE FROM ${this.#database.tables.feeds} WHERE k = ? AND c = ? AND first <= ?`,
      [...values, first],
    );
  }

  /** Removes the oldest batches of a feed that has more than its bound. */
  async drop({ values, label }: FeedKey): Promise<void> {
    const table = this.#database.tables.feeds;
    await this.#database.write(
      `dropping the oldest events of ${label}`,
      `DELETE FROM ${table} WHERE k = ? AND c = ? AND total <= (SELECT bound FROM (SELECT MAX(total) - ? AS bound FROM ${table} WHERE k = ? AND c = ?) AS newest)`,
      [...values, this.#limits.maxChars, ...values],
    );
  }

  /** Removes some feeds that have expired; resolves to true when there may be more. */
  async sweep(): Promise<boolean> {
    const rows = await this.#database.read(
      "looking for expired events",
      `SELECT DISTINCT k, c FROM ${this.#database.tables.feeds} WHERE expires <= ${NOW} LIMIT ${SWEPT_AT_ONCE}`,
    );
    for (const [k, c] of rows) {
      const place: FeedPlace = { values: [asBytes(k), asBytes(c)], label: "a session" };
      const head = await this.head(place);
      if (head?.isExpired) await this.remove(place, head.first);
    }
    return rows.length === SWEPT_AT_ONCE;
  }

  contended({ label }: FeedKey): StoreUnavailableError {
    return new StoreUnavailableError(
      `appending events of ${label} failed: other processes append to them at the same time; try again later`,
    );
  }
}
