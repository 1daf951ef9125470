import type { Transaction } from "../connection/database.js";
import { rowBatches } from "../connection/row-batches.js";
import type { Tables } from "../keys.js";
import { hasBlob, insertBlob } from "./log-blobs.js";
import { type PreparedLog, type PreparedRecord, recordBytes } from "./prepare-log.js";

export { writeBlobs } from "./log-blobs.js";
export { type PreparedLog, prepareLog } from "./prepare-log.js";

interface LogRow {
  readonly seq: number;
  readonly record: PreparedRecord;
  readonly body: Buffer;
}

const ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const COLUMNS =
  "k, seq, id, call_id, at, kind, has_blobs, input_tokens, output_tokens, cached_tokens, body";
/** A row beside its body and id, rather too much than too little. */
const ROW_OVERHEAD = 1_024;

/**
 * Inserts records in a transaction that holds the slot's row, with the seqs up to `lastSeq`; those whose id is there
 * already are left out.
 *
 * @param lastSeq - `log_seq` of the slot after it was raised by the number of records
 */
export async function insertLog(
  tx: Transaction,
  tables: Tables,
  k: Buffer,
  lastSeq: number,
  prepared: PreparedLog,
): Promise<void> {
  const { records, blobs } = prepared;
  // They were written before the transaction; a delete of the log in between took them away again.
  for (const [ref, bytes] of blobs)
    if (!(await hasBlob(tx, tables, k, ref, bytes)))
      await insertBlob((sql, values) => tx.write(sql, values), tables, k, ref, bytes);
  const rows = records.map((record, index): LogRow => {
    const seq = lastSeq - records.length + 1 + index;
    return { seq, record, body: recordBytes(record, seq) };
  });
  for (const batch of rowBatches(rows, ({ body }) => body.length + ROW_OVERHEAD))
    await tx.write(
      insertStatement(tables, batch.length),
      batch.flatMap(({ seq, record, body }) => [
        ...[k, seq, record.id, record.callId, record.at, record.kind, record.hasBlobs ? 1 : 0],
        ...[record.inputTokens, record.outputTokens, record.cachedTokens, body],
      ]),
    );
}

/**
 * A row whose id is there is left as it is. One whose seq is there under another id, which no store of ours leaves behind,
 * fails the statement (a number out of range, in every SQL mode) instead of losing a record.
 */
function insertStatement(tables: Tables, rows: number): string {
  const values = Array.from({ length: rows }, () => ROW).join(", ");
  return `INSERT INTO ${tables.log} (${COLUMNS}) VALUES ${values} ON DUPLICATE KEY UPDATE id = IF(id = VALUES(id), id, ~0 + seq)`;
}
