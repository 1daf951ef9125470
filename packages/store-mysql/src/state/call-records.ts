import { type Slot, StateTooLargeError } from "@holdfast/core";
import { type CallRecordWrite, describeSlot } from "@holdfast/core/store-kit";
import type { Value } from "../connection/session.js";
import { encodeEntry, entryStart, entryTexts, LF, withoutEntry } from "./entry-list.js";

/** Call record ready to be sent. */
export interface PreparedCallRecord {
  readonly callId: string;
  readonly bytes: Buffer;
  readonly keep: number;
}

/** Part of an UPDATE, with its values. */
interface Assignment {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Bytes that the records of a slot may take, of which the oldest go first, and a single one. */
export const MAX_RECORD_BYTES = 4_194_304;

/** Encodes a call record. @throws StateTooLargeError */
export function prepareCallRecord(
  slot: Slot,
  { record, keep }: CallRecordWrite,
): PreparedCallRecord {
  const bytes = encodeEntry("callId", record);
  if (bytes.length > MAX_RECORD_BYTES)
    throw new StateTooLargeError(
      `saving ${describeSlot(slot)} has a call record of ${bytes.length} bytes; at most ${MAX_RECORD_BYTES} can be stored`,
    );
  return { callId: record.callId, bytes, keep: Math.max(0, keep) };
}

/** Assignment that keeps a record as the newest, in front of those of other calls. */
export function keepingRecord({ callId, bytes, keep }: PreparedCallRecord): Assignment {
  const start = entryStart("callId", callId);
  return { sql: KEEPING, values: [bytes, start, start, start, keep + 1] };
}

const KEEPING = `calls = LEFT(SUBSTRING_INDEX(CONCAT(?, ${withoutEntry("COALESCE(calls, X'')")}), ${LF}, ?), ${MAX_RECORD_BYTES})`;

/** Assignment that keeps no other record. */
export function onlyRecord(record: PreparedCallRecord | undefined): Assignment {
  return { sql: "calls = ?", values: [record && record.keep > 0 ? record.bytes : null] };
}

/** Returns the records in the column `calls`, newest first, each as its JSON. */
export function callRecordTexts(list: Buffer): string[] {
  const texts = entryTexts(list);
  // The last one may have been cut off where the list ends.
  if (list.length === MAX_RECORD_BYTES) texts.pop();
  return texts;
}
