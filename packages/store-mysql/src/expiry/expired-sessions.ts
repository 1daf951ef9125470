import type { Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import { asBytes, asNumber, asText } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";
import { LISTED_AT, type ListPosition } from "../listing/list-position.js";
import { NO_STATE } from "../state/state-row.js";
import { expired, isExpired, lifeOf } from "./last-use.js";

/** Slots looked at, and transactions, of one run. */
const [SLOTS_PER_RUN, STEPS_PER_RUN] = [50, 200];
/** Rows deleted by one transaction: none lasts long, whatever the length of a log. */
const [LOG_ROWS, BLOB_ROWS] = [500, 20];
/** Position before every slot. */
const START: ListPosition = { listedAt: "1000-01-01 00:00:00.000000", k: Buffer.alloc(32) };

/** Result of one step: the slot is gone, has more to remove, or is in use or being removed by another node. */
type Step = "gone" | "more" | "kept";

/** Removes sessions that have expired, in the order in which they were last listed, a few with each run. */
export class ExpiredSessions {
  readonly #database: Database;
  #after = START;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Removes some expired sessions; resolves to true when there may be more. Several nodes may do so at once. */
  async sweep(): Promise<boolean> {
    const { ttlMs, tables } = this.#database;
    if (ttlMs === undefined) return false;
    const { listedAt, k } = this.#after;
    const rows = await this.#database.read(
      "looking for expired sessions",
      `SELECT k, ${LISTED_AT}, ${lifeOf(this.#database)} FROM ${tables.slots}
WHERE listed_at <= UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND AND listed_at >= CAST(? AS DATETIME(6)) AND (listed_at > CAST(? AS DATETIME(6)) OR k > ?)
ORDER BY listed_at, k LIMIT ${SLOTS_PER_RUN}`,
      [ttlMs * 1_000, listedAt, listedAt, k],
    );
    let steps = STEPS_PER_RUN;
    for (const [key, at, life] of rows) {
      for (let step: Step = "more"; isExpired(life) && step === "more"; steps--) {
        // The next run goes on with this one.
        if (steps === 0) return true;
        step = await removeSome(this.#database, asBytes(key), "removing an expired session", true);
      }
      this.#after = { listedAt: asText(at), k: asBytes(key) };
    }
    const hasMore = rows.length === SLOTS_PER_RUN;
    if (!hasMore) this.#after = START;
    return hasMore;
  }
}

/** Removes a session if it has expired, all of it, before something is stored under its ids again. */
export async function removeExpired(database: Database, slot: Slot): Promise<void> {
  if (database.ttlMs === undefined) return;
  const k = slotHash(slot);
  const what = `removing what has expired of ${describeSlot(slot)}`;
  const sql = `SELECT ${lifeOf(database)} FROM ${database.tables.slots} WHERE k = ?`;
  const [row] = await database.read(what, sql, [k]);
  if (!isExpired(row?.[0])) return;
  while ((await removeSome(database, k, what, false)) === "more");
}

/**
 * Removes a part of what is stored for a slot, in one transaction: first the state, then records and long texts, then the row.
 *
 * Each checks with the slot's row locked that the slot has expired and no call waits: another node may have removed it
 * meanwhile, and a new session may have begun under the same ids.
 *
 * @param skipsLocked - leaves a slot that another node is at to that node, instead of waiting
 */
function removeSome(
  database: Database,
  k: Buffer,
  what: string,
  skipsLocked: boolean,
): Promise<Step> {
  const { slots, messages, ledger, inbox, calls, log, blobs, waiters } = database.tables;
  return database.transaction(what, async (tx) => {
    const [row] = await tx.read(
      `SELECT rev IS NOT NULL OR inbox IS NOT NULL OR n > 0 FROM ${slots} WHERE k = ? AND ${expired(database.ttlMs ?? 0)}
AND NOT EXISTS (SELECT 1 FROM ${waiters} WHERE ${waiters}.k = ${slots}.k AND kind = 'waiter' AND alive_until > UTC_TIMESTAMP(6)) FOR UPDATE${skipsLocked ? " SKIP LOCKED" : ""}`,
      [k],
    );
    if (row === undefined) return "kept";
    if (asNumber(row[0]) === 1) {
      await tx.write(`UPDATE ${slots} SET ${NO_STATE} WHERE k = ?`, [k]);
      for (const table of [messages, ledger, inbox, calls])
        await tx.write(`DELETE FROM ${table} WHERE k = ?`, [k]);
      return "more";
    }
    // Records before the long texts they name.
    for (const [table, order, rows] of [
      [log, "record_seq", LOG_ROWS],
      [blobs, "ref, chunk", BLOB_ROWS],
    ] as const) {
      const sql = `DELETE FROM ${table} WHERE k = ? ORDER BY ${order} LIMIT ${rows}`;
      if ((await tx.write(sql, [k])).affectedRows === rows) return "more";
    }
    await tx.write(`DELETE FROM ${slots} WHERE k = ?`, [k]);
    return "gone";
  });
}
