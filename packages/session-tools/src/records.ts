import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import type { YieldingClock } from "@holdfast/core/plugin-kit";
import type { LogRange } from "@holdfast/core/store-kit";

/** Records read at a time; each may have hundreds of kilobytes. */
const PAGE = 25;

/**
 * The records of a session: with `after` the oldest beyond it first, otherwise the newest (before `before`) first. Other work
 * goes on meanwhile.
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
