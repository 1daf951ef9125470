import { InvalidInputError } from "@holdfast/core";
import {
  checkLimit,
  checkSessionQuery,
  DEFAULT_LOG_LIMIT,
  type LogSession,
  type LogSessionPage,
  type LogSessionQuery,
} from "@holdfast/core/store-kit";
import type { ReportSink } from "../report.js";
import { logDirectory } from "./log-place.js";
import { placeOfFile, withFile } from "./open-log.js";
import { compareFiles, type SessionFile, sessionFiles } from "./session-files.js";

/** Last entry of a page. */
type Position = Pick<SessionFile, "writtenMs" | "name">;

/** Time for which later pages reuse the scan of the first one, whatever is written meanwhile. */
const SCAN_TTL_MS = 30_000;
/** Files opened at a time. */
const PARALLEL = 16;
/** Larger scans are not kept. */
const SCAN_KEPT = 50_000;

/** Lists the sessions that have a log, most recently updated first, by the times of their files. */
export class SessionListing {
  readonly #root: string;
  readonly #report: ReportSink;
  #scan:
    | { readonly directory: string; readonly at: number; readonly files: readonly SessionFile[] }
    | undefined;

  constructor(root: string, report: ReportSink) {
    this.#root = root;
    this.#report = report;
  }

  /** @throws InvalidInputError | InvalidIdError */
  async list(query: LogSessionQuery): Promise<LogSessionPage> {
    checkSessionQuery(query);
    const limit = checkLimit(query.limit, DEFAULT_LOG_LIMIT);
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const sessions: LogSession[] = [];
    let last: SessionFile | undefined;
    const files = await this.#files(query);
    const first = files.findIndex((file) => after === undefined || compareFiles(file, after) > 0);
    for (let from = first; from >= 0 && from < files.length; from += PARALLEL) {
      const some = files.slice(from, from + PARALLEL);
      const found = await Promise.all(some.map((file) => this.#sessionIn(file)));
      for (const [index, session] of found.entries()) {
        if (session === null) continue;
        if (sessions.length === limit && last !== undefined)
          return { sessions, cursor: writeCursor(last) };
        sessions.push(session);
        last = some[index];
      }
    }
    // That was the last page.
    this.#scan = undefined;
    return { sessions };
  }

  async #files({ agentId, userId, cursor }: LogSessionQuery): Promise<readonly SessionFile[]> {
    const directory = logDirectory(this.#root, { agentId, userId, sessionId: "" });
    const kept = this.#scan;
    if (cursor !== undefined && kept?.directory === directory)
      if (performance.now() - kept.at < SCAN_TTL_MS) return kept.files;
    const files = await sessionFiles(directory);
    this.#scan = files.length > SCAN_KEPT ? undefined : { directory, at: performance.now(), files };
    return files;
  }

  async #sessionIn({ path, writtenMs }: SessionFile): Promise<LogSession | null> {
    const place = await withFile(
      path,
      (handle) => placeOfFile(this.#root, path, handle, this.#report),
      null,
    );
    return place && { slot: { ...place.slot }, lastAt: new Date(writtenMs).toISOString() };
  }
}

function writeCursor({ writtenMs, name }: Position): string {
  return Buffer.from(JSON.stringify([writtenMs, name])).toString("base64url");
}

function readCursor(cursor: string): Position {
  try {
    const [writtenMs, name] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (typeof writtenMs === "number" && typeof name === "string") return { writtenMs, name };
  } catch {
    // Falls through to the error for any invalid cursor.
  }
  throw new InvalidInputError(
    "the cursor does not come from a listing of this log; leave the cursor out to begin anew",
  );
}
