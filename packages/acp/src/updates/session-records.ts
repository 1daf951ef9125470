import type { Message } from "@holdfast/core";
import type { AcpAgent } from "../acp-agent.js";
import type { HistoryRecord } from "./history-updates.js";

/** Records read at a time. */
const PAGE = 200;

/**
 * Reads the newest records of a conversation, oldest first, as many as allowed or a page more; they begin with words of the
 * user where that can be had.
 *
 * @returns `waiting` are words that the log does not have yet
 */
export async function sessionRecords(
  agent: Pick<AcpAgent, "history">,
  userId: string | null,
  sessionId: string,
  maxRecords: number,
): Promise<{ readonly records: readonly HistoryRecord[]; readonly waiting: readonly Message[] }> {
  const pages: (readonly HistoryRecord[])[] = [];
  let waiting: readonly Message[] = [];
  let count = 0;
  for (let before: number | undefined; ; ) {
    const page = await agent.history(userId, sessionId, { before, limit: PAGE });
    if (before === undefined) waiting = page.waiting;
    pages.unshift(page.records);
    count += page.records.length;
    before = page.records[0]?.seq;
    if (page.records.length < PAGE) return { records: pages.flat(), waiting };
    if (count >= maxRecords) break;
  }
  const records = pages.flat();
  const start = records.findIndex(({ message }) => message?.role === "user");
  return { records: records.slice(Math.max(0, start)), waiting };
}
