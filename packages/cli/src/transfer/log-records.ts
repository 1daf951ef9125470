import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import {
  type BlobReference,
  extractBlobs,
  type LogDraft,
  withBlobs,
} from "@holdfast/core/store-kit";

/** Target size of a page, in characters; a single record may be larger. */
const PAGE_SIZE = 524_288;
const FIRST_LIMIT = 8;
const MOST_RECORDS = 200;
/** Growth of a page over the previous one: the size of small records says little about later ones. */
const GROWTH = 4;

/** Reads a session's log, oldest record first, in pages of about half a megabyte, without the long texts. */
export async function* logRecords(
  log: Pick<ConversationLog, "read">,
  slot: Slot,
): AsyncGenerator<LogRecord, void, void> {
  let limit = FIRST_LIMIT;
  for (let after = 0; ; ) {
    const page = await log.read(slot, { after, limit });
    // Before the records are handed out: the consumer may change them.
    const next = nextLimit(limit, page);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = last.seq;
    limit = next;
  }
}

/** Estimates how many records fill a page, from the size of those in the last one. */
function nextLimit(limit: number, page: readonly LogRecord[]): number {
  const each = Math.max(roughSize(page) / Math.max(page.length, 1), 1);
  return Math.max(1, Math.min(Math.floor(PAGE_SIZE / each), GROWTH * limit, MOST_RECORDS));
}

/** Record that is copied from one log to another. */
export interface PortableRecord {
  /** Record without its long texts. */
  readonly record: LogDraft & { readonly blobs?: readonly BlobReference[] | undefined };
  /** Returns the record with its long texts. */
  whole(): LogDraft | Promise<LogDraft>;
}

/** Reads the records of a log, oldest first. */
export async function* recordsOf(
  log: Pick<ConversationLog, "read" | "readBlob">,
  slot: Slot,
): AsyncGenerator<PortableRecord, void, void> {
  for await (const record of logRecords(log, slot))
    yield { record, whole: async () => draftOf(await withBlobs(log, slot, record)) };
}

/** Converts a record that contains its long texts. */
export function portableDraft(draft: LogDraft): PortableRecord {
  const { draft: short, references } = extractBlobs(draft);
  return {
    record: references.length > 0 ? { ...short, blobs: references } : short,
    whole: () => draft,
  };
}

/** Returns a record without the fields that a log assigns. */
function draftOf(record: LogRecord): LogDraft {
  const { seq: _seq, blobs: _blobs, ...draft } = record;
  return draft;
}

/** Estimates the length of a value as JSON, without creating the JSON. */
function roughSize(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += roughSize(item);
  else for (const [key, item] of Object.entries(value)) size += key.length + roughSize(item);
  return size;
}
