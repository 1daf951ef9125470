import type { LogRecord, Message, Slot } from "@holdfast/core";
import type { BlobReference, LogDraft } from "@holdfast/core/store-kit";
import {
  checkLogDraft,
  deepFreeze,
  describeSlot,
  extractBlobs,
  MAX_INLINE_BYTES,
  slotText,
  upgradeMessage,
} from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { Seals, sealedMessage } from "./seals.js";

/** Sealed part of a record; the rest stays readable and is bound to it. */
type RecordContents = Pick<LogRecord, "message" | "mark" | "blobs">;

/** Decrypted record, and the references under which the inner log keeps its long strings. */
export interface OpenedRecord {
  readonly record: LogRecord;
  readonly innerRefs: ReadonlyMap<string, string>;
}

/**
 * Seals the contents of a record. Long strings are sealed one by one and stay long strings, which the inner log stores as
 * blobs as it would plain ones.
 *
 * @throws InvalidInputError | InvalidIdError
 */
export function sealDraft(ring: KeyRing, slot: Slot, original: LogDraft): LogDraft {
  checkLogDraft(original);
  const { draft, references, blobs } = extractBlobs(original);
  const { v, id, callId, at, kind, message, mark } = draft;
  const contents: RecordContents = {
    message,
    mark,
    ...(references.length > 0 && { blobs: references }),
  };
  const place = slotText(slot);
  const text = new Seals(ring, "holdfast.record.1", place).seal(
    JSON.stringify(contents),
    ...boundFields(draft),
  );
  const sealed = { sealed: inPieces(text) };
  if (kind === "mark")
    return { v, id, callId, at, kind, mark: { name: "sealed", details: sealed } };
  const seals = new Seals(ring, "holdfast.blob.1", place);
  const long = [...blobs.values()].map((blob) => seals.sealAlike(blob));
  const metadata = { ...sealed, ...(long.length > 0 && { blobs: long }) };
  return { v, id, callId, at, kind, message: sealedMessage(message as Message, metadata) };
}

/**
 * Opens a sealed record.
 *
 * @throws StateCorruptError
 */
export function openRecord(ring: KeyRing, slot: Slot, stored: LogRecord): OpenedRecord {
  const { v, seq, id, callId, at, kind } = stored;
  const text = new Seals(ring, "holdfast.record.1", slotText(slot)).open(
    kind === "message" ? stored.message?.metadata : stored.mark?.details,
    `log record ${seq} of ${describeSlot(slot)}`,
    ...boundFields(stored),
  );
  if (text === null) {
    const refs = (stored.blobs ?? []).map(({ ref }) => [ref, ref] as const);
    return { record: stored, innerRefs: new Map(refs) };
  }
  const { message, ...rest } = JSON.parse(text) as RecordContents;
  const contents = { ...(message && { message: upgradeMessage(message) as Message }), ...rest };
  const record = deepFreeze({ v, seq, id, callId, at, kind, ...contents });
  return { record, innerRefs: innerRefs(record.blobs ?? [], stored.blobs ?? []) };
}

/** Returns the readable fields that are bound to the contents: changing one makes the record unreadable. */
function boundFields({ id, callId, at, kind }: LogDraft): string[] {
  return [id, callId, at, kind];
}

/** Splits text into pieces short enough for the inner log to keep in the record. */
function inPieces(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += MAX_INLINE_BYTES)
    pieces.push(text.slice(at, at + MAX_INLINE_BYTES));
  return pieces;
}

/** Maps references to inner ones: the n-th distinct long string is at `metadata.blobs[n]` of the stored message. */
function innerRefs(
  references: readonly BlobReference[],
  stored: readonly BlobReference[],
): Map<string, string> {
  const refs = new Map<string, string>();
  const distinct = [...new Set(references.map(({ ref }) => ref))];
  for (const { path, ref } of stored) {
    const outer = distinct[Number(path.at(-1))];
    if (outer !== undefined) refs.set(outer, ref);
  }
  return refs;
}
