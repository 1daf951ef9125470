import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import type { AppendBatches } from "./append-batches.js";
import { logRecords } from "./log-records.js";
import type { PortableRecord } from "./portable-record.js";
import { recordText, type SessionDigest } from "./session-digest.js";

/**
 * How a stored log relates to the records it should hold:
 * - `same`, or `behind`: it is the beginning of them, and what was missing was appended, if that was asked for;
 * - `ahead`: they are the beginning of it;
 * - `other`: the two part ways; `changed`: a record has the same id and says something else.
 */
export type LogRelation = "same" | "behind" | "ahead" | "other" | "changed";

/** What came of comparing. */
export interface LogAlignment {
  readonly relation: LogRelation;
  /** How many records they begin with in common. */
  readonly shared: number;
}

/**
 * Compares a log with the records it should hold, both read page by page, and appends what it lacks.
 *
 * Appending begins only where the stored log has ended, so a log that turns out to be another one is not touched.
 *
 * @param digest - takes in every record that comes
 * @param onShared - told of every stored record that is as it should be
 * @param batches - where to append; what it holds back at the end is the caller's to send; null only compares
 */
export async function alignLog(
  log: Pick<ConversationLog, "read">,
  slot: Slot,
  incoming: AsyncIterable<PortableRecord>,
  digest: SessionDigest,
  batches: AppendBatches | null,
  onShared?: (record: LogRecord) => Promise<void>,
): Promise<LogAlignment> {
  const stored = logRecords(log, slot);
  let next = await stored.next();
  let shared = 0;
  let isBehind = false;
  for await (const { record, whole } of incoming) {
    const text = digest.record(record);
    if (!next.done) {
      if (next.value.id !== record.id) return { relation: "other", shared };
      if (recordText(next.value) !== text) return { relation: "changed", shared };
      shared++;
      await onShared?.(next.value);
      next = await stored.next();
      continue;
    }
    isBehind = true;
    const apart = (record.blobs ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
    await batches?.add(await whole(), Buffer.byteLength(text, "utf8") + apart);
  }
  if (!next.done) return { relation: "ahead", shared };
  return { relation: isBehind ? "behind" : "same", shared };
}
