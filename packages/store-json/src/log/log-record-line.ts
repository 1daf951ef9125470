import { type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import { extractBlobs, type LogDraft, readLogRecord } from "@holdfast/core/store-kit";

/** A record ready to be written. */
export interface EncodedRecord {
  readonly id: string;
  /** JSON and a line end. */
  readonly line: Buffer;
  /** The texts that are too long for the line, by their `ref`. */
  readonly blobs: ReadonlyMap<string, string>;
}

/** The id in the front of a line as {@link encodeRecord} writes it. */
const ID = /^\{"v":1,"id":("(?:[^"\\]|\\.)*")/;
const PLAIN_ID = /^[ -[\]-~]*$/;
const OBJECT_END = 0x7d;
/** An id has 255 units, each written with six bytes at most. */
const ID_WITHIN = 1_600;

/** Encodes a record as a line. Its offset in the file is its seq, so the line does not hold one. */
export function encodeRecord(original: LogDraft): EncodedRecord {
  const { draft, references, blobs } = extractBlobs(original);
  const { v, id, callId, at, kind, message, mark } = draft;
  const fields = { v, id, callId, at, kind, message, mark };
  const record = references.length === 0 ? fields : { ...fields, blobs: references };
  return { id, line: Buffer.from(`${JSON.stringify(record)}\n`), blobs };
}

/** The seq of the record whose line starts at `start`. */
export function seqOf(start: number): number {
  return start + 1;
}

/** Offset of the line that holds the record with this seq. */
export function startOf(seq: number): number {
  return seq - 1;
}

/**
 * Decodes the line that starts at `start`; null when it is not a record.
 *
 * A line cut short is never a record, wherever it was cut: the front of a JSON object is not JSON.
 */
export function decodeRecord(slot: Slot, text: string, start: number): LogRecord | null {
  if (!text.startsWith("{")) return null;
  const seq = seqOf(start);
  try {
    const record = readLogRecord(slot, `{"seq":${seq},${text.slice(1)}`);
    return record.seq === seq ? record : null;
  } catch (error) {
    if (StateCorruptError.is(error)) return null;
    throw error;
  }
}

/**
 * Returns the id at the front of a line without parsing the rest, so the line may be cut short in between; null when
 * there is none.
 */
export function claimedId(line: Buffer): string | null {
  if (line.at(-1) !== OBJECT_END) return null;
  // Bytes as characters: this runs over a megabyte of lines at a time, and most ids are plain.
  const text = ID.exec(line.toString("latin1", 0, ID_WITHIN))?.[1];
  if (text === undefined) return null;
  if (PLAIN_ID.test(text)) return text.slice(1, -1);
  try {
    return JSON.parse(Buffer.from(text, "latin1").toString("utf8")) as string;
  } catch {
    return null;
  }
}
