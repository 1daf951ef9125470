import type { HistoryPage, LogRecord, Message } from "@holdfast/core";
import type { ServedAgent } from "../served-agent.js";

/** Records read at a time, and most of them for one page. */
const STEP = 200;
const MAX_RECORDS = 5_000;

/** Record of a conversation, with whether the model still sees it. */
export type HistoryRecord = HistoryPage["records"][number];

/** Part of a conversation: whole turns, oldest first, without what does not count. */
export interface SessionRecords {
  readonly records: readonly HistoryRecord[];
  /** Words that the log does not have yet; only with the newest records. */
  readonly waiting: readonly Message[];
  /** Position before which there is more; absent at the beginning of the conversation. */
  readonly before?: number | undefined;
}

/**
 * Reads the newest records of a conversation, or those before a position, as many as asked for or more: a page begins with words
 * of the user, so that no turn is cut in two.
 */
export async function sessionRecords(
  agent: Pick<ServedAgent, "history">,
  userId: string,
  sessionId: string,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<SessionRecords> {
  let records: readonly HistoryRecord[] = [];
  let waiting: readonly Message[] = [];
  const counted = (from: number) => records.slice(from).filter(({ discarded }) => !discarded);
  for (;;) {
    const from = records[0]?.seq ?? before;
    const page = await agent.history(userId, sessionId, { before: from, limit: STEP });
    records = [...page.records, ...records];
    waiting = [...waiting, ...page.waiting];
    if (page.records.length < STEP) return { records: counted(0), waiting };
    const start = Math.max(0, records.findIndex(beginsTurn));
    const isWhole = records[start] !== undefined && beginsTurn(records[start]);
    const isFull = records.length >= MAX_RECORDS;
    if (isFull || (isWhole && records.length - start >= limit))
      return { records: counted(start), waiting, before: records[start]?.seq };
  }
}

/** Tells whether a record holds the words that a call began with. */
export function beginsTurn({ id, message }: LogRecord): boolean {
  return message?.role === "user" && id.includes(".input.");
}
