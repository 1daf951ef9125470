import { crc32 } from "node:zlib";
import type { Transaction } from "../connection/database.js";
import { rowBatches } from "../connection/row-batches.js";
import type { Value } from "../connection/session.js";
import type { Tables } from "../keys.js";
import type { MessageRow } from "./prepare-write.js";

/** Positions per DELETE. */
const POSITIONS_PER_DELETE = 64;

/**
 * Writes messages at their positions, over existing ones.
 *
 * @param firstSeq - seq of the first record of the save; undefined when its messages must not refer to its records
 */
export async function writeMessages(
  tx: Transaction,
  tables: Tables,
  k: Buffer,
  rows: readonly MessageRow[],
  firstSeq: number | undefined,
): Promise<void> {
  const sent =
    firstSeq === undefined
      ? rows.map(({ pos, body }) => ({ pos, body }))
      : rows.map((row) => ({
          ...row,
          record: row.record === undefined ? undefined : firstSeq + row.record,
        }));
  for (const batch of rowBatches(sent, storedBytes)) {
    const { sql, values } = insertingMessages(tables, k, batch, "?");
    await tx.write(sql, values);
  }
}

/** Returns the bytes of a message that its own row holds. */
export function storedBytes({ body, record }: MessageRow): number {
  return record === undefined ? body.length : 0;
}

/**
 * Returns one INSERT of messages at their positions, over existing ones.
 *
 * @param seq - expression for the seq of a record, with a mark for the `record` of a row; NULL for a mark of NULL
 */
export function insertingMessages(
  { messages }: Tables,
  k: Buffer,
  rows: readonly MessageRow[],
  seq: string,
): { readonly sql: string; readonly values: readonly Value[] } {
  const places = rows.map(() => `(?, ?, ${seq}, ?, ?)`).join(", ");
  return {
    sql: `INSERT INTO ${messages} (k, pos, record_seq, record_crc, body) VALUES ${places}
ON DUPLICATE KEY UPDATE record_seq = VALUES(record_seq), record_crc = VALUES(record_crc), body = VALUES(body)`,
    values: rows.flatMap(({ pos, body, record }) =>
      record === undefined
        ? [k, pos, null, null, body]
        : [k, pos, record, crc32(body), Buffer.alloc(0)],
    ),
  };
}

/**
 * Join of messages `m` with the records `l` that they refer to. One with another text, which no store of this package puts in
 * its place, is not joined.
 */
export function joiningRecords({ log }: Tables): string {
  return `JOIN ${log} AS l ON l.k = m.k AND l.record_seq = m.record_seq AND CRC32(l.body) = m.record_crc`;
}

/** Copies the texts of messages that refer to the log to their own rows, in a transaction that has locked the slot's row. */
export async function copyBackTexts(tx: Transaction, tables: Tables, k: Buffer): Promise<void> {
  await tx.write(
    `UPDATE ${tables.messages} AS m ${joiningRecords(tables)} SET m.body = l.body, m.record_seq = NULL, m.record_crc = NULL WHERE m.k = ?`,
    [k],
  );
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
