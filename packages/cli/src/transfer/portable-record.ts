import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import {
  type BlobReference,
  extractBlobs,
  type LogDraft,
  withBlobs,
} from "@holdfast/core/store-kit";
import { logRecords } from "./log-records.js";

/** A record on its way from one log to another. */
export interface PortableRecord {
  /** Without its long texts, as every log keeps it. */
  readonly record: LogDraft & { readonly blobs?: readonly BlobReference[] | undefined };
  /** With its long texts. */
  whole(): LogDraft | Promise<LogDraft>;
}

/** The records of a log, oldest first. */
export async function* recordsOf(
  log: Pick<ConversationLog, "read" | "readBlob">,
  slot: Slot,
): AsyncGenerator<PortableRecord, void, void> {
  for await (const record of logRecords(log, slot))
    yield { record, whole: async () => draftOf(await withBlobs(log, slot, record)) };
}

/** A record that has its long texts in it. */
export function portableDraft(draft: LogDraft): PortableRecord {
  const { draft: short, references } = extractBlobs(draft);
  return {
    record: references.length > 0 ? { ...short, blobs: references } : short,
    whole: () => draft,
  };
}

/** A record as its writer made it: a place in a log is that log's own. */
export function draftOf(record: LogRecord): LogDraft {
  const { seq: _seq, blobs: _blobs, ...draft } = record;
  return draft;
}
