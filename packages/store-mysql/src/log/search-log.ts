import {
  checkLimit,
  checkLogQuery,
  type LogFinds,
  type LogHit,
  type LogPosition,
  type LogQuery,
} from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { likePattern } from "./like-pattern.js";
import { SearchBudget, type SearchLimits, searchLimits } from "./search-budget.js";
import { hitIn } from "./search-record.js";
import { candidateRows, scanWindows } from "./search-scan.js";
import { searchedSessions } from "./search-sessions.js";
import { type SearchWindow, searchWindows } from "./search-windows.js";

const DEFAULT_LIMIT = 10;

/**
 * Searches the sessions of a user with one agent in the order of their listing, newest records first in each.
 *
 * The server only narrows down which records can match; whether they do is decided here, as in every other log. A search
 * that comes to its limits says where to go on. It looks at something first, whatever they are, so that going on ends.
 *
 * @param limits - those of the database; lower in tests
 * @throws InvalidInputError | InvalidIdError, the reason of the query's signal, StoreUnavailableError
 */
export async function searchLog(
  database: Database,
  query: LogQuery,
  limits: SearchLimits = searchLimits(database.commandTimeoutMs),
): Promise<LogFinds> {
  checkLogQuery(query);
  const limit = checkLimit(query.limit, DEFAULT_LIMIT);
  query.signal?.throwIfAborted();
  const budget = new SearchBudget(limits, query.signal);
  const pattern = likePattern(query.text);
  const hits: LogHit[] = [];
  let seen: LogPosition | undefined;
  for await (const sessions of searchedSessions(database, query))
    for (const windows of searchWindows(sessions, limits.windowRecords)) {
      if (!budget.hasMore() && seen !== undefined) return { hits, next: seen };
      for (const { after, last } of windows) budget.spendRecords(last - after);
      const candidates = await scanWindows(database, windows, pattern);
      for await (const rows of candidateRows(database, candidates))
        for (const row of rows) {
          budget.spendBytes(row.bytes);
          const hit = await hitIn(database, row, query.text, budget);
          if (hit !== null) hits.push(hit);
          if (hits.length === limit || !budget.hasMore())
            return { hits, next: { sessionId: row.session.slot.sessionId, seq: row.seq } };
        }
      seen = endOf(windows);
    }
  return { hits };
}

/** The place behind everything in these windows. */
function endOf(windows: readonly SearchWindow[]): LogPosition | undefined {
  const last = windows.at(-1);
  return last && { sessionId: last.session.slot.sessionId, seq: last.after + 1 };
}
