import { checkLimit, checkLogQuery, type LogHit, type LogQuery, type Slot } from "@holdfast/core";
import { asBytes, asNumber, asText } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { ownerHash, slotHash } from "../keys.js";
import { likePattern } from "./like-pattern.js";
import { SEARCH_LIMITS, SearchBudget } from "./search-budget.js";
import { hitIn } from "./search-record.js";
import { candidateRows, scanWindows } from "./search-scan.js";
import { type SearchedSession, searchWindows } from "./search-windows.js";

const DEFAULT_LIMIT = 10;
const what = "searching the log";

/**
 * Searches the sessions of a user with one agent, the one written to last first, newest records first in each.
 *
 * The server only narrows down which records can match; whether they do is decided here, as in every other log. A search
 * ends at the limits of {@link SEARCH_LIMITS} or when its time is up, with what it found until then.
 *
 * @throws InvalidInputError | InvalidIdError, the reason of the query's signal, StoreUnavailableError
 */
export async function searchLog(database: Database, query: LogQuery): Promise<LogHit[]> {
  checkLogQuery(query);
  const limit = checkLimit(query.limit, DEFAULT_LIMIT);
  // The statement that is under way when the time is up has its own.
  const budget = new SearchBudget(database.commandTimeoutMs / 2, query.signal);
  const pattern = likePattern(query.text);
  const hits: LogHit[] = [];
  if (!budget.hasMore()) return hits;
  for (const windows of searchWindows(await sessionsOf(database, query))) {
    if (!budget.hasMore()) return hits;
    for (const { after, last } of windows) budget.spendRecords(last - after);
    const candidates = await scanWindows(database, windows, pattern);
    for await (const rows of candidateRows(database, candidates))
      for (const row of rows) {
        budget.spendBytes(row.bytes);
        const hit = await hitIn(database, row, query.text, budget);
        if (hit !== null) hits.push(hit);
        if (hits.length === limit || !budget.hasMore()) return hits;
      }
  }
  return hits;
}

async function sessionsOf(database: Database, query: LogQuery): Promise<SearchedSession[]> {
  const { agentId, userId, sessionId } = query;
  const { slots, log } = database.tables;
  const sessions = `SELECT k, session_id, log_seq, (SELECT at FROM ${log} WHERE ${log}.k = ${slots}.k ORDER BY seq DESC LIMIT 1) FROM ${slots} WHERE log_seq > 0 AND`;
  const rows =
    sessionId === undefined
      ? await database.read(
          what,
          `${sessions} owner = ? ORDER BY listed_at DESC, k DESC LIMIT ${SEARCH_LIMITS.sessions}`,
          [ownerHash(agentId, userId)],
        )
      : await database.read(what, `${sessions} k = ?`, [slotHash({ agentId, userId, sessionId })]);
  return rows
    .map(([k, session, lastSeq, at]) => {
      const slot: Slot = { agentId, userId, sessionId: asText(session) };
      return { k: asBytes(k), slot, lastSeq: asNumber(lastSeq), at: asText(at) };
    })
    .sort((one, other) => (one.at < other.at ? 1 : -1));
}
