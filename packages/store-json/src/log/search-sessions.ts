import {
  checkLimit,
  checkLogQuery,
  type LogFinds,
  type LogHit,
  type LogQuery,
} from "@holdfast/core/store-kit";
import type { ReportSink } from "../report.js";
import { probeOf } from "../scan/probe.js";
import type { Scanner } from "../scan/scanner.js";
import { lineStartFrom } from "./log-lines.js";
import { logDirectory, logPlace } from "./log-place.js";
import { withFile, withLog } from "./open-log.js";
import { type ScannedPart, scannedParts } from "./scanned-parts.js";
import { type PlannedSession, planSearch } from "./search-plan.js";
import { type SessionFile, sessionFile, sessionFiles } from "./session-files.js";
import { type SearchContext, SessionSearch } from "./session-search.js";
import { TimeSlice } from "./time-slice.js";
import { unscannedParts } from "./unscanned-parts.js";

/** What a search works with. */
export interface SearchTools {
  readonly scanner: Scanner;
  readonly report: ReportSink;
  /** After this time it says where to go on. @default 5 seconds */
  readonly maxMs?: number | undefined;
  /** How much is looked through before threads help. @default 256 KB */
  readonly firstBytes?: number | undefined;
}

/** How many hits there are unless the query says otherwise. */
const DEFAULT_LIMIT = 10;
const MAX_MS = 5_000;

/**
 * Searches the sessions of a user with one agent, the one written to last first.
 *
 * Files are looked through as bytes; the few lines that may match are read and decided on.
 *
 * @throws InvalidInputError | InvalidIdError, the reason of the query's signal, StateCorruptError for a named session
 */
export async function searchSessions(
  root: string,
  query: LogQuery,
  { scanner, report, maxMs = MAX_MS, firstBytes }: SearchTools,
): Promise<LogFinds> {
  checkLogQuery(query);
  const limit = checkLimit(query.limit, DEFAULT_LIMIT);
  query.signal?.throwIfAborted();
  const end = performance.now() + maxMs;
  const { text } = query;
  const slice = new TimeSlice(query.signal);
  const probe = probeOf(text);
  const [scansLines, scansBlobs] = [
    probe.line !== null,
    probe.line !== null && probe.blob !== null,
  ];
  const context: SearchContext = { root, text, scansLines, scansBlobs, slice, report };
  const files = await filesToSearch(root, query);
  const plan = planSearch(plannedSessions(root, files, query, scansBlobs), firstBytes);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const parts = scansLines
    ? scannedParts(plan, { scanner, text, bytes, slice })
    : unscannedParts(plan);
  return collect(parts, context, limit, end);
}

/** Goes through the parts until there are enough hits, or it is late. */
async function collect(
  parts: AsyncGenerator<ScannedPart, void>,
  context: SearchContext,
  limit: number,
  end: number,
): Promise<LogFinds> {
  const { slice } = context;
  const hits: LogHit[] = [];
  let session: SessionSearch | undefined;
  try {
    for await (const part of parts) {
      if (session?.file !== part.session.file) {
        await session?.close();
        session = new SessionSearch(part.session.file, context);
      }
      hits.push(...(await session.hitsIn(part, limit - hits.length)));
      const last = hits.at(-1);
      if (last !== undefined && hits.length === limit)
        return { hits, next: { sessionId: last.slot.sessionId, seq: last.record.seq } };
      if (slice.isOver) await slice.next();
      if (part.ref !== null || performance.now() <= end) continue;
      const next = await session.positionAt(part.range.from, part.session.to);
      if (next !== null) return { hits, next };
    }
  } finally {
    await session?.close();
  }
  return { hits };
}

/** The files to search, in their order. */
async function filesToSearch(root: string, query: LogQuery): Promise<SessionFile[]> {
  const { agentId, userId, sessionId, before } = query;
  if (sessionId !== undefined) {
    const place = logPlace(root, { agentId, userId, sessionId });
    // Whoever names a session wants to know when its file is damaged.
    await withLog(place, async () => undefined, undefined);
    const file = await sessionFile(place.directory, place.name, true);
    return file === null ? [] : [file];
  }
  const directory = logDirectory(root, { agentId, userId, sessionId: "" });
  const files = await sessionFiles(directory);
  if (before === undefined) return files;
  const path = fileOf(root, query, before.sessionId);
  return files.slice(
    Math.max(
      0,
      files.findIndex((file) => file.path === path),
    ),
  );
}

/** The sessions, each up to where it is asked for. */
async function* plannedSessions(
  root: string,
  files: readonly SessionFile[],
  query: LogQuery,
  scansBlobs: boolean,
): AsyncGenerator<PlannedSession, void> {
  const { before } = query;
  const path = before && fileOf(root, query, before.sessionId);
  for (const file of files) {
    const to =
      before !== undefined && file.path === path
        ? await lineStartAt(file, before.seq - 1)
        : file.size;
    yield { file, to, scansBlobs };
  }
}

function fileOf(root: string, { agentId, userId }: LogQuery, sessionId: string): string {
  return logPlace(root, { agentId, userId, sessionId }).file;
}

/** The first line start at or behind an offset, which need not be one. */
function lineStartAt({ path, size }: SessionFile, offset: number): Promise<number> {
  return withFile(path, (handle) => lineStartFrom(handle, Math.min(offset, size), size), 0);
}
