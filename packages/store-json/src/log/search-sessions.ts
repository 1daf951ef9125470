import {
  checkLimit,
  checkLogQuery,
  type LogFinds,
  type LogHit,
  type LogQuery,
} from "@holdfast/core/store-kit";
import type { ReportSink } from "../report.js";
import { BlockBuffer } from "./log-lines.js";
import { logDirectory, logPlace } from "./log-place.js";
import { startOf } from "./log-record-line.js";
import { withLog } from "./open-log.js";
import { queryPatterns } from "./query-patterns.js";
import { type SearchContext, searchSession } from "./search-session.js";
import { type SessionFile, sessionFile, sessionFiles } from "./session-files.js";
import { TimeSlice } from "./time-slice.js";

/** Report sink of a search, and limits that tests change. */
export interface SearchOptions {
  readonly report: ReportSink;
  /** Time after which a search returns where to go on. @default 5 seconds */
  readonly maxMs?: number | undefined;
  /** Size of the first read in a file. @default 256 KB */
  readonly firstBytes?: number | undefined;
}

const DEFAULT_LIMIT = 10;
const MAX_MS = 5_000;
const FIRST_BYTES = 262_144;

/**
 * Searches the sessions of a user with one agent, most recently updated first.
 *
 * Files are searched as bytes; only the lines that may match are parsed.
 *
 * @throws InvalidInputError | InvalidIdError, the reason of the query's signal, StateCorruptError for a named session
 */
export async function searchSessions(
  root: string,
  query: LogQuery,
  { report, maxMs = MAX_MS, firstBytes = FIRST_BYTES }: SearchOptions,
): Promise<LogFinds> {
  checkLogQuery(query);
  const limit = checkLimit(query.limit, DEFAULT_LIMIT);
  const { text, signal, agentId, userId, before } = query;
  signal?.throwIfAborted();
  const context: SearchContext = {
    root,
    text,
    patterns: queryPatterns(text),
    slice: new TimeSlice(signal),
    report,
    deadline: performance.now() + maxMs,
    firstBytes,
    buffer: new BlockBuffer(),
  };
  const first = before && logPlace(root, { agentId, userId, sessionId: before.sessionId }).file;
  const files = await filesToSearch(root, query);
  const hits: LogHit[] = [];
  for (const file of files.slice(
    Math.max(
      0,
      files.findIndex(({ path }) => path === first),
    ),
  )) {
    const end = before && file.path === first ? startOf(before.seq) : file.size;
    const finds = await searchSession(file, end, limit - hits.length, context);
    hits.push(...finds.hits);
    if (finds.next !== undefined) return { hits, next: finds.next };
  }
  return { hits };
}

/** Returns the named session, or all of the user's. */
async function filesToSearch(root: string, query: LogQuery): Promise<readonly SessionFile[]> {
  const { agentId, userId, sessionId } = query;
  if (sessionId === undefined)
    return sessionFiles(logDirectory(root, { agentId, userId, sessionId: "" }));
  const place = logPlace(root, { agentId, userId, sessionId });
  // A damaged file is an error when the session is named.
  await withLog(place, async () => undefined, undefined);
  const file = await sessionFile(place.directory, place.name, true);
  return file === null ? [] : [file];
}
