import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";

/** Records in memory at a time; their long texts are apart. */
const PAGE = 200;

/** Every record of a session's log, oldest first, read page by page. */
export async function* logRecords(
  log: Pick<ConversationLog, "read">,
  slot: Slot,
): AsyncGenerator<LogRecord, void, void> {
  for (let after = 0; ; ) {
    const page = await log.read(slot, { after, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.seq;
  }
}
