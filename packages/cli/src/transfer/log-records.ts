import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import { roughSize } from "./rough-size.js";

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
