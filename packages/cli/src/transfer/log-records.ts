import {
  type BlobReference,
  type ConversationLog,
  extractBlobs,
  type LogDraft,
  type LogRecord,
  type Slot,
  withBlobs,
} from "@holdfast/core";

/** What a page should amount to; records have no largest size, and some of them come as many. */
const PAGE_SIZE = 524_288;
const FIRST_LIMIT = 8;
const MOST_RECORDS = 200;
/** How much larger than the last a page may be: small records say little about those that follow. */
const GROWTH = 4;

/** Every record of a session's log, oldest first, in pages of about half a megabyte; their long texts are apart. */
export async function* logRecords(
  log: Pick<ConversationLog, "read">,
  slot: Slot,
): AsyncGenerator<LogRecord, void, void> {
  let limit = FIRST_LIMIT;
  for (let after = 0; ; ) {
    const page = await log.read(slot, { after, limit });
    // Before they are handed out: from then on they are somebody else's.
    const next = nextLimit(limit, page);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return;
    after = last.seq;
    limit = next;
  }
}

/** As many records as the last page, when they are of that size, would fill a page with. */
function nextLimit(limit: number, page: readonly LogRecord[]): number {
  const each = Math.max(roughSize(page) / Math.max(page.length, 1), 1);
  return Math.max(1, Math.min(Math.floor(PAGE_SIZE / each), GROWTH * limit, MOST_RECORDS));
}

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
function draftOf(record: LogRecord): LogDraft {
  const { seq: _seq, blobs: _blobs, ...draft } = record;
  return draft;
}

/** About how many characters a value has as JSON: what its texts and keys amount to, without making the JSON. */
function roughSize(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += roughSize(item);
  else for (const [key, item] of Object.entries(value)) size += key.length + roughSize(item);
  return size;
}
