import type { Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import { asNumberOrZero, type Cell } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";

/** Value of `used_at` set by every use of a session. */
export const NOW = "UTC_TIMESTAMP(6)";

/** Columns that say when a slot was last used. Earlier releases do not write `used_at`; a lease is use until it ends. */
const USES = ["used_at", "updated_at", "listed_at", "lease_until"];

/** A load writes the time of last use when it is older than this, or than a tenth of `ttlMs`. */
const LONGEST_UNWRITTEN_MS = 60_000;

/** Condition for slots that have expired, by the server's clock; a call that waits is not considered. */
export function expired(ttlMs: number): string {
  // A load may be younger than what was written of it.
  const last = before(ttlMs + unwrittenMs(ttlMs));
  const uses = USES.map((column) => `(${column} IS NULL OR ${column} <= ${last})`);
  return `(${uses.join(" AND ")})`;
}

/** Condition to add to a `WHERE` that must not find an expired slot; nothing where sessions do not expire. */
export function andUnexpired({ ttlMs }: Database): string {
  return ttlMs === undefined ? "" : ` AND NOT ${expired(ttlMs)}`;
}

const [ALIVE, DUE] = [0, 1];
/** Value of {@link lifeOf} for a slot that has expired. */
export const EXPIRED = 2;

/** Expression for the life of a slot: whether it has expired, or its time of last use has to be written. */
export function lifeOf({ ttlMs }: Database): string {
  if (ttlMs === undefined) return String(ALIVE);
  const due = `used_at IS NULL OR used_at <= ${before(unwrittenMs(ttlMs))}`;
  return `IF(${expired(ttlMs)}, ${EXPIRED}, IF(${due}, ${DUE}, ${ALIVE}))`;
}

/** Tells whether a slot has expired, from {@link lifeOf}. */
export function isExpired(life: Cell | undefined): boolean {
  return asNumberOrZero(life) === EXPIRED;
}

/** Writes that a slot is used, where {@link lifeOf} says that this is due. */
export async function keepUsed(
  database: Database,
  slot: Slot,
  life: Cell | undefined,
): Promise<void> {
  if (asNumberOrZero(life) !== DUE) return;
  const { slots } = database.tables;
  const sql = `UPDATE ${slots} SET used_at = ${NOW} WHERE k = ?${andUnexpired(database)}`;
  // A server that refuses writes can still be read.
  await database
    .write(`keeping ${describeSlot(slot)}`, sql, [slotHash(slot)])
    .catch(() => undefined);
}

function unwrittenMs(ttlMs: number): number {
  return Math.min(ttlMs / 10, LONGEST_UNWRITTEN_MS);
}

function before(ms: number): string {
  return `${NOW} - INTERVAL ${Math.round(ms * 1_000)} MICROSECOND`;
}
