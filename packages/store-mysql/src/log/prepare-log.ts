import { type Slot, StateTooLargeError } from "@holdfast/core";
import {
  checkLogDraft,
  describeSlot,
  extractBlobs,
  type LogDraft,
  logRecordText,
} from "@holdfast/core/store-kit";

/** Records ready to be written, copied: what the caller does with the drafts afterwards changes nothing. */
export interface PreparedLog {
  /** In the order given, each id once. */
  readonly records: readonly PreparedRecord[];
  /** Texts too long for their records, by `ref`. */
  readonly blobs: ReadonlyMap<string, Buffer>;
}

/** A record that lacks nothing but its seq. */
export interface PreparedRecord {
  readonly id: Buffer;
  readonly callId: Buffer;
  readonly at: Buffer;
  readonly kind: LogDraft["kind"];
  readonly hasBlobs: boolean;
  /** Of the message's usage, for reports; null where it has none. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cachedTokens: number | null;
  /** What follows the seq in the record's JSON. */
  readonly rest: string;
}

const FRONT = '{"v":1,"seq":';
/** What a MEDIUMBLOB holds. */
const MAX_RECORD_BYTES = 16_777_215;
/** Columns of the log that only serve queries; the body has the whole value. */
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
    records.set(draft.id, {
      id: Buffer.from(draft.id, "utf8"),
      callId: Buffer.from(draft.callId, "utf8").subarray(0, COLUMN_BYTES.callId),
      at: Buffer.from(draft.at, "utf8").subarray(0, COLUMN_BYTES.at),
      kind: draft.kind,
      hasBlobs,
      inputTokens: tokens(draft.message?.usage?.inputTokens),
      outputTokens: tokens(draft.message?.usage?.outputTokens),
      cachedTokens: tokens(draft.message?.usage?.cachedInputTokens),
      rest: checkSize(slot, logRecordText(record)).slice(`${FRONT}0`.length),
    });
  }
  return { records: [...records.values()], blobs };
}

function checkSize(slot: Slot, text: string): string {
  // The seq that takes the place of the 0 has 16 digits at most.
  const bytes = Buffer.byteLength(text, "utf8") + 15;
  if (bytes > MAX_RECORD_BYTES)
    throw new StateTooLargeError(
      `a log record of ${describeSlot(slot)} takes ${bytes} bytes; at most ${MAX_RECORD_BYTES} are accepted, split the message`,
    );
  return text;
}

/** A count as the column keeps it: what a model or a plugin reports need not be one. */
function tokens(count: unknown): number | null {
  return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) : null;
}

/** The exact bytes of a record at its place: those of `logRecordText`. */
export function recordBytes(record: PreparedRecord, seq: number): Buffer {
  return Buffer.from(`${FRONT}${seq}${record.rest}`, "utf8");
}
