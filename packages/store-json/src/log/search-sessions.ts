import type { FileHandle } from "node:fs/promises";
import {
  checkLimit,
  checkLogQuery,
  type LogHit,
  type LogQuery,
  StateCorruptError,
  StateTooNewError,
} from "@holdfast/core";
import type { ReportSink } from "../report.js";
import { readHeader } from "./log-header.js";
import { type LogPlace, logDirectory, logPlace } from "./log-place.js";
import { withFile, withLog } from "./open-log.js";
import { searchLog } from "./search-log.js";
import { sessionFiles } from "./session-files.js";
import { TimeSlice } from "./time-slice.js";

/** How many hits there are unless the query says otherwise. */
const DEFAULT_LIMIT = 10;

/**
 * Searches the sessions of a user with one agent, the one written to last first.
 *
 * @throws InvalidInputError | InvalidIdError, the reason of the query's signal, StateCorruptError for a named session
 */
export async function searchSessions(
  root: string,
  query: LogQuery,
  report: ReportSink,
): Promise<LogHit[]> {
  checkLogQuery(query);
  const limit = checkLimit(query.limit, DEFAULT_LIMIT);
  query.signal?.throwIfAborted();
  const { agentId, userId, sessionId, text } = query;
  const slice = new TimeSlice(query.signal);
  const searchIn = async (place: LogPlace, room: number): Promise<LogHit[]> =>
    withLog(place, (log) => searchLog(log, { place, text, slice, report }, room), []);
  if (sessionId !== undefined)
    return searchIn(logPlace(root, { agentId, userId, sessionId }), limit);
  const hits: LogHit[] = [];
  const directory = logDirectory(root, { agentId, userId, sessionId: "" });
  for (const file of await sessionFiles(directory)) {
    await slice.next();
    const place = await withFile(file, (handle) => placeOf(root, file, handle, report), null);
    if (place !== null) hits.push(...(await searchIn(place, limit - hits.length)));
    if (hits.length === limit) break;
  }
  return hits;
}

/** The session a file says it is the log of; null, and a report, when that cannot be. */
async function placeOf(
  root: string,
  file: string,
  handle: FileHandle,
  report: ReportSink,
): Promise<LogPlace | null> {
  try {
    const header = await readHeader(handle, "a log file");
    if (header === null) return null;
    const place = logPlace(root, header.slot);
    if (place.file === file) return place;
    report({
      kind: "entry_skipped",
      message: "a search passed over a log file: it belongs to another session",
    });
  } catch (error) {
    if (!StateCorruptError.is(error) && !StateTooNewError.is(error)) throw error;
    report({
      kind: "entry_skipped",
      message: `a search passed over a log file: ${error.message}`,
      cause: error,
    });
  }
  return null;
}
