import { type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import {
  checkLimit,
  DEFAULT_LOG_LIMIT,
  describeSlot,
  type LogRange,
  readLogRecord,
} from "@holdfast/core/store-kit";
import { asNumber, asText, type Row, readingOf } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";
import { wholeRecord } from "./record-body.js";

/** Rows per statement: two statement texts to prepare. A longer page is read in several statements. */
const SHORT_BATCH = 10;
const LONG_BATCH = 100;

/**
 * Reads the records of a range, in ascending seq.
 *
 * @throws InvalidInputError for a limit that is not a whole number of at least 1
 * @throws StateCorruptError when one of them is damaged
 */
export async function readLog(
  database: Database,
  slot: Slot,
  range: LogRange,
): Promise<readonly LogRecord[]> {
  const limit = checkLimit(range.limit, DEFAULT_LOG_LIMIT);
  const isForward = range.after !== undefined;
  const k = slotHash(slot);
  const batch = limit <= SHORT_BATCH ? SHORT_BATCH : LONG_BATCH;
  const sql = `SELECT ${RECORD_COLUMNS} FROM ${database.tables.log} WHERE k = ? AND record_seq > ? AND record_seq < ? ORDER BY record_seq ${isForward ? "ASC" : "DESC"} LIMIT ${batch}`;
  let after = bound(range.after, 0);
  let before = bound(range.before, Number.MAX_SAFE_INTEGER);
  const records: LogRecord[] = [];
  for (;;) {
    const what = `reading the log of ${describeSlot(slot)}`;
    const rows = await database.read(what, sql, [k, after, before]);
    for (const row of rows) if (records.length < limit) records.push(readRecordRow(slot, row));
    const last = records.at(-1);
    if (rows.length < batch || records.length === limit || last === undefined) break;
    if (isForward) after = last.seq;
    else before = last.seq;
  }
  return isForward ? records : records.reverse();
}

/** Columns of a record as {@link readRecordRow} takes them. */
export const RECORD_COLUMNS = "record_seq, body, id, call_id, at, kind";

/**
 * Reads the record in a row of {@link RECORD_COLUMNS}.
 *
 * @throws StateCorruptError
 */
export function readRecordRow(slot: Slot, [seq, body, ...columns]: Row): LogRecord {
  const what = `a log record of ${describeSlot(slot)}`;
  const [text, place] = readingOf(what, () => {
    const [id, callId, at, kind] = columns.map(asText);
    const beside = { id: id ?? "", callId: callId ?? "", at: at ?? "", kind: kind ?? "" };
    return [wholeRecord(asNumber(seq), beside, asText(body)), asNumber(seq)] as const;
  });
  const record = readLogRecord(slot, text);
  if (record.seq === place) return record;
  throw new StateCorruptError(
    `a log record of ${describeSlot(slot)} is damaged: its seq is not that of its row`,
  );
}

/** Clamps a bound to numbers that the server can compare with seqs. */
function bound(seq: number | undefined, otherwise: number): number {
  if (seq === undefined) return otherwise;
  return Math.min(Math.max(seq, 0), Number.MAX_SAFE_INTEGER);
}
