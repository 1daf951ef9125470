import type { Transaction } from "../connection/database.js";
import { rowBatches } from "../connection/row-batches.js";
import type { Value } from "../connection/session.js";
import type { Tables } from "../keys.js";
import type { MessageRow } from "./prepare-write.js";

/** Positions per DELETE. */
const POSITIONS_PER_DELETE = 64;

/** Writes messages at their positions, over existing ones. */
export async function writeMessages(
  tx: Transaction,
  tables: Tables,
  k: Buffer,
  rows: readonly MessageRow[],
): Promise<void> {
  for (const batch of rowBatches(rows, ({ body }) => body.length)) {
    const { sql, values } = insertingMessages(tables, k, batch);
    await tx.write(sql, values);
  }
}

/** Returns one INSERT of messages at their positions, over existing ones. */
export function insertingMessages(
  { messages }: Tables,
  k: Buffer,
  rows: readonly MessageRow[],
): { readonly sql: string; readonly values: readonly Value[] } {
  const places = rows.map(() => "(?, ?, ?)").join(", ");
  return {
    sql: `INSERT INTO ${messages} (k, pos, body) VALUES ${places} ON DUPLICATE KEY UPDATE body = VALUES(body)`,
    values: rows.flatMap(({ pos, body }) => [k, pos, body]),
  };
}

/**
 * Deletes the messages from position `from` up to but excluding `to`.
 *
 * Names each position instead of a range: a range would also lock the gap behind it, where the next slot's messages go, and two
 * such saves would block each other.
 */
export async function deleteMessages(
  tx: Transaction,
  { messages }: Tables,
  k: Buffer,
  from: number,
  to: number,
): Promise<void> {
  const marks = Array.from({ length: POSITIONS_PER_DELETE }, () => "?").join(", ");
  for (let start = from; start < to; start += POSITIONS_PER_DELETE) {
    const places = Array.from({ length: POSITIONS_PER_DELETE }, (_, index) =>
      Math.min(start + index, to - 1),
    );
    await tx.write(`DELETE FROM ${messages} WHERE k = ? AND pos IN (${marks})`, [k, ...places]);
  }
}
