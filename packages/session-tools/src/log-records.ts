import type { ConversationLog, LogRecord, Message, Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { LogRange } from "@holdfast/core/store-kit";

/** A record that holds a message. */
export type MessageRecord = LogRecord & { readonly message: Message };

/** Tells whether a record holds a message. */
export function isMessage(record: LogRecord): record is MessageRecord {
  return record.kind === "message" && record.message !== undefined;
}

/** Records read at a time; each may have hundreds of kilobytes. */
const PAGE = 25;

/**
 * Yields the records of a session: with `after`, those after it, oldest first; otherwise those before `before`, newest first.
 * Other work may run meanwhile.
 */
export async function* records(
  log: Pick<ConversationLog, "read">,
  slot: Slot,
  { before, after }: Pick<LogRange, "before" | "after">,
  clock: YieldingClock,
): AsyncGenerator<LogRecord> {
  const isForward = after !== undefined;
  let from = isForward ? after : before;
  for (;;) {
    await clock.tick();
    const range = isForward ? { after: from, before } : { before: from };
    const page = await log.read(slot, { ...range, limit: PAGE });
    for (const record of isForward ? page : [...page].reverse()) {
      yield record;
      from = record.seq;
      await clock.tick();
    }
    if (page.length < PAGE) return;
  }
}
