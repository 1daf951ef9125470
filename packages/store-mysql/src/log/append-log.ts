import { type Slot, StateTooLargeError } from "@holdfast/core";
import {
  checkLogDraft,
  describeSlot,
  extractBlobs,
  type LogDraft,
  logRecordText,
} from "@holdfast/core/store-kit";
import type { Transaction } from "../connection/database.js";
import { rowBatches } from "../connection/row-batches.js";
import type { Value } from "../connection/session.js";
import type { Tables } from "../keys.js";
import { hasBlob, insertBlob } from "./log-blobs.js";
import { bodyBytes, type RecordBody, type RecordColumns, recordBody } from "./record-body.js";

/** Records ready to be written. Copies: changing the drafts afterwards has no effect. */
export interface PreparedLog {
  /** In the order given, each id once. */
  readonly records: readonly PreparedRecord[];
  /** Texts too long for their records, by `ref`. */
  readonly blobs: ReadonlyMap<string, Buffer>;
}

/** A complete record but for its seq. */
interface PreparedRecord {
  readonly id: Buffer;
  readonly callId: Buffer;
  readonly at: Buffer;
  readonly kind: LogDraft["kind"];
  readonly hasBlobs: boolean;
  /** Tokens of the message's usage, for reports; null where it has none. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  readonly body: RecordBody;
}

/** Size of a MEDIUMBLOB. */
const MAX_RECORD_BYTES = 16_777_215;
/** Sizes of columns that only serve queries; the body has the whole value. */
const COLUMN_BYTES = { callId: 765, at: 64 };

/**
 * Checks and encodes records. Call it before the first `await`.
 *
 * @throws InvalidInputError | InvalidIdError
 * @throws StateTooLargeError for a record of more than 16 MB without its long strings
 */
export function prepareLog(slot: Slot, drafts: readonly LogDraft[]): PreparedLog {
  for (const draft of drafts) checkLogDraft(draft);
  const records = new Map<string, PreparedRecord>();
  const blobs = new Map<string, Buffer>();
  for (const draft of drafts) {
    if (records.has(draft.id)) continue;
    const extracted = extractBlobs(draft);
    for (const [ref, text] of extracted.blobs)
      if (!blobs.has(ref)) blobs.set(ref, Buffer.from(text, "utf8"));
    const hasBlobs = extracted.references.length > 0;
    const record = { ...extracted.draft, seq: 0, ...(hasBlobs && { blobs: extracted.references }) };
    const text = checkSize(slot, logRecordText(record));
    const columns = {
      id: Buffer.from(draft.id, "utf8"),
      callId: Buffer.from(draft.callId, "utf8").subarray(0, COLUMN_BYTES.callId),
      at: Buffer.from(draft.at, "utf8").subarray(0, COLUMN_BYTES.at),
    };
    const hasMessageOnly = draft.kind === "message" && draft.mark === undefined && !hasBlobs;
    records.set(draft.id, {
      ...columns,
      kind: draft.kind,
      hasBlobs,
      inputTokens: tokens(draft.message?.usage?.inputTokens),
      outputTokens: tokens(draft.message?.usage?.outputTokens),
      cachedTokens: tokens(draft.message?.usage?.cachedInputTokens),
      body: recordBody(text, columnTexts(columns, draft.kind), hasMessageOnly),
    });
  }
  return { records: [...records.values()], blobs };
}

function checkSize(slot: Slot, text: string): string {
  // The seq that replaces the 0 has 16 digits at most.
  const bytes = Buffer.byteLength(text, "utf8") + 15;
  if (bytes > MAX_RECORD_BYTES)
    throw new StateTooLargeError(
      `a log record of ${describeSlot(slot)} takes ${bytes} bytes; at most ${MAX_RECORD_BYTES} are accepted, split the message`,
    );
  return text;
}

/** Returns a count for the column; null when a model or plugin reported something else. */
function tokens(count: unknown): number | null {
  return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) : null;
}

function columnTexts(
  { id, callId, at }: Pick<PreparedRecord, "id" | "callId" | "at">,
  kind: LogDraft["kind"],
): RecordColumns {
  const [idText, callIdText, atText] = [id, callId, at].map((bytes) => bytes.toString("utf8"));
  return { id: idText ?? "", callId: callIdText ?? "", at: atText ?? "", kind };
}

interface LogRow {
  readonly seq: number;
  readonly record: PreparedRecord;
  readonly body: Buffer;
}

const ROW = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
const COLUMNS =
  "k, record_seq, id, call_id, at, kind, has_blobs, input_tokens, output_tokens, cached_tokens, body";
/** Upper bound of the bytes of a row besides its body. */
const ROW_OVERHEAD = 1_024;

/**
 * Inserts records in a transaction that has locked the slot's row, with the seqs up to `lastSeq`; skips those whose id exists
 * already.
 *
 * @param lastSeq - `log_seq` of the slot after it was raised by the number of records
 * @returns whether all were inserted
 */
export async function insertLog(
  tx: Transaction,
  tables: Tables,
  k: Buffer,
  lastSeq: number,
  prepared: PreparedLog,
): Promise<boolean> {
  const { records, blobs } = prepared;
  // They were written before the transaction; a delete of the log in between may have removed them.
  for (const [ref, bytes] of blobs)
    if (!(await hasBlob(tx, tables, k, ref, bytes)))
      await insertBlob((sql, values) => tx.write(sql, values), tables, k, ref, bytes);
  const rows = records.map((record, index): LogRow => {
    const seq = lastSeq - records.length + 1 + index;
    return { seq, record, body: bodyBytes(record.body, seq) };
  });
  let isComplete = true;
  for (const batch of rowBatches(rows, ({ body }) => body.length + ROW_OVERHEAD)) {
    const { insertId } = await tx.write(
      `${inserting(
        tables.log,
        batch.map(() => ROW),
      )} ${LEAVING_EXISTING}`,
      batch.flatMap(({ seq, record, body }) => [k, seq, ...besideSeq(record), body]),
    );
    if (insertId === EXISTING) isComplete = false;
  }
  return isComplete;
}

/**
 * Returns one INSERT of records, which must have no blobs and no seq in their bodies, for a statement that knows their last seq.
 * It fails when an id exists already.
 *
 * @param lastSeq - expression for `log_seq` of the slot after it was raised by the number of records
 */
export function insertingLog(
  { log }: Tables,
  k: Buffer,
  lastSeq: string,
  { records }: PreparedLog,
): { readonly sql: string; readonly values: readonly Value[] } {
  const rows = records.map((_, index) => {
    const seq = `${lastSeq} - ${records.length - 1 - index}`;
    return `(?, ${seq}, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  });
  const values = records.flatMap((record) => [
    k,
    ...besideSeq(record),
    Buffer.from(record.body.text, "utf8"),
  ]);
  return { sql: inserting(log, rows), values };
}

/** Values of the columns between the seq and the body. */
function besideSeq(record: PreparedRecord): readonly Value[] {
  const { id, callId, at, kind, inputTokens, outputTokens, cachedTokens } = record;
  return [id, callId, at, kind, record.hasBlobs ? 1 : 0, inputTokens, outputTokens, cachedTokens];
}

function inserting(log: string, rows: readonly string[]): string {
  return `INSERT INTO ${log} (${COLUMNS}) VALUES ${rows.join(", ")}`;
}

/** Value that {@link LEAVING_EXISTING} passes to `LAST_INSERT_ID` for a record whose id exists. */
const EXISTING = 1;
/**
 * End of an INSERT that leaves a row with the same id as it is. One with the same seq and another id, which no store of this
 * package leaves behind, fails the statement (a number out of range, in every SQL mode) instead of losing a record.
 */
const LEAVING_EXISTING =
  "ON DUPLICATE KEY UPDATE id = IF(LAST_INSERT_ID(id = VALUES(id)), id, ~0 + record_seq)";
