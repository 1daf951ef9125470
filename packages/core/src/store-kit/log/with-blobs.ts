import { StateCorruptError } from "../../errors/store-errors.js";
import { deepFreeze } from "../../json/json.js";
import type { BlobReference, ConversationLog, LogRecord } from "../../ports/conversation-log.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import { blobRef } from "./blobs.js";

/**
 * Returns a record as it was appended, with the long strings back in its message.
 *
 * @throws StateCorruptError when one of them is missing or was changed
 */
export async function withBlobs(
  log: Pick<ConversationLog, "readBlob">,
  slot: Slot,
  record: LogRecord,
): Promise<LogRecord> {
  const blobs = new Map<string, string | null>();
  for (const { ref } of record.blobs ?? [])
    if (!blobs.has(ref)) blobs.set(ref, await log.readBlob(slot, ref));
  return restoreBlobs(slot, record, (ref) => blobs.get(ref));
}

/** Returns a record as {@link withBlobs} does, for a log that has its blobs in memory. @throws StateCorruptError */
export function restoreBlobs(
  slot: Slot,
  record: LogRecord,
  blobOf: (ref: string) => string | null | undefined,
): LogRecord {
  if (record.blobs === undefined) return record;
  const { blobs: references, ...rest } = record;
  const message: unknown = JSON.parse(JSON.stringify(record.message ?? null));
  const checked = new Map<string, string>();
  for (const reference of references) {
    const text = checked.get(reference.ref) ?? blobOf(reference.ref) ?? undefined;
    if (text === undefined) throw corrupt(slot, record, `${reference.ref} is missing`);
    if (!checked.has(reference.ref) && blobRef(text) !== reference.ref)
      throw corrupt(slot, record, `${reference.ref} was changed in the store`);
    checked.set(reference.ref, text);
    if (!put(message, reference, text))
      throw corrupt(slot, record, "a reference names a place that does not exist");
  }
  return deepFreeze({ ...rest, message: message as NonNullable<LogRecord["message"]> });
}

/** Puts `text` at the place of the reference; returns `false` when there is no empty string. */
function put(message: unknown, { path }: BlobReference, text: string): boolean {
  const key = path.at(-1);
  let parent = message;
  for (const step of path.slice(0, -1)) parent = childOf(parent, step);
  if (key === undefined || childOf(parent, key) !== "") return false;
  // Defined, not assigned: the key may be "__proto__".
  Object.defineProperty(parent, key, {
    value: text,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return true;
}

function childOf(parent: unknown, key: string | number): unknown {
  if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, key))
    return undefined;
  return (parent as Record<string | number, unknown>)[key];
}

function corrupt(slot: Slot, record: LogRecord, problem: string): StateCorruptError {
  return new StateCorruptError(
    `log record ${record.seq} of ${describeSlot(slot)} cannot be read whole: ${problem}`,
  );
}
