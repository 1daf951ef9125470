import { type LogRecord, type Slot, StateCorruptError } from "@holdfast/core";
import {
  checkLimit,
  checkLogQuery,
  isSearched,
  type LogFinds,
  type LogHit,
  type LogPosition,
  type LogQuery,
  messageProblem,
  searchableText,
  snippetAround,
  withBlobs,
} from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { likePattern } from "./like-pattern.js";
import { readBlob } from "./log-blobs.js";
import { readRecordRow } from "./read-log.js";
import { SearchBudget, type SearchLimits, searchLimits } from "./search-budget.js";
import { type CandidateRow, candidateRows, scanWindows } from "./search-scan.js";
import { type SearchWindow, searchedSessions, searchWindows } from "./search-windows.js";

const DEFAULT_LIMIT = 10;

/**
 * Searches the sessions of a user with one agent in the order of their listing, newest records first in each.
 *
 * The server only narrows down which records can match; the final match is made here, as in every other log. A search that
 * reaches its limits returns where to continue. It always reads at least one window first, so that continuing terminates.
 *
 * @param limits - lower in tests
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
          const hit = await matchRow(database, row, query.text, budget);
          if (hit !== null) hits.push(hit);
          if (hits.length === limit || !budget.hasMore())
            return { hits, next: { sessionId: row.session.slot.sessionId, seq: row.seq } };
        }
      seen = endOf(windows);
    }
  return { hits };
}

/** Position after everything in these windows. */
function endOf(windows: readonly SearchWindow[]): LogPosition | undefined {
  const last = windows.at(-1);
  return last && { sessionId: last.session.slot.sessionId, seq: last.after + 1 };
}

/** Returns the hit in a row, or null. Damaged records are skipped: `read` reports them, a search finds the rest. */
async function matchRow(
  database: Database,
  { session: { slot }, row }: CandidateRow,
  text: string,
  budget: SearchBudget,
): Promise<LogHit | null> {
  try {
    const record = readRecordRow(slot, row);
    if (record.message === undefined || messageProblem(record.message) !== null) return null;
    const { message } = await withTexts(database, slot, record, budget);
    const snippet = message === undefined ? null : snippetAround(searchableText(message), text);
    return snippet === null ? null : { slot: { ...slot }, record, snippet };
  } catch (error) {
    if (StateCorruptError.is(error)) return null;
    throw error;
  }
}

/** Returns the record with its searchable long texts; without them when one is missing. */
async function withTexts(
  database: Database,
  slot: Slot,
  record: LogRecord,
  budget: SearchBudget,
): Promise<LogRecord> {
  const references = record.blobs?.filter(({ path }) => isSearched(path)) ?? [];
  if (references.length === 0) return record;
  for (const { bytes } of references) budget.spendBytes(bytes);
  const log = { readBlob: (_: Slot, ref: string) => readBlob(database, slot, ref) };
  try {
    return await withBlobs(log, slot, { ...record, blobs: references });
  } catch (error) {
    if (StateCorruptError.is(error)) return record;
    throw error;
  }
}
