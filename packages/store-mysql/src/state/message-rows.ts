import type { Transaction } from "../connection/database.js";
import { rowBatches } from "../connection/row-batches.js";
import type { Tables } from "../keys.js";

/** A message at its place. */
export interface MessageRow {
  readonly pos: number;
  readonly body: Buffer;
}

/** How many positions one DELETE names. */
const DROPPED_AT_ONCE = 64;

/** Puts messages at their places, over those that are there. */
export async function putMessages(
  tx: Transaction,
  { messages }: Tables,
  k: Buffer,
  rows: readonly MessageRow[],
): Promise<void> {
  for (const batch of rowBatches(rows, ({ body }) => body.length)) {
    const places = batch.map(() => "(?, ?, ?)").join(", ");
    await tx.write(
      `INSERT INTO ${messages} (k, pos, body) VALUES ${places} ON DUPLICATE KEY UPDATE body = VALUES(body)`,
      batch.flatMap(({ pos, body }) => [k, pos, body]),
    );
  }
}

/**
 * Removes the messages at `from` and after, up to but not at `to`.
 *
 * By naming each place, not as a range: a range would also lock the gap behind it, where the next slot's messages go, and
 * two such savers would stop each other.
 */
export async function dropMessages(
  tx: Transaction,
  { messages }: Tables,
  k: Buffer,
  from: number,
  to: number,
): Promise<void> {
  const marks = Array.from({ length: DROPPED_AT_ONCE }, () => "?").join(", ");
  for (let start = from; start < to; start += DROPPED_AT_ONCE) {
    const places = Array.from({ length: DROPPED_AT_ONCE }, (_, index) =>
      Math.min(start + index, to - 1),
    );
    await tx.write(`DELETE FROM ${messages} WHERE k = ? AND pos IN (${marks})`, [k, ...places]);
  }
}
