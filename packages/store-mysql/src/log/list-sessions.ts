import {
  checkLimit,
  checkSessionQuery,
  type LogSessionPage,
  type LogSessionQuery,
} from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { readCursor, writeCursor } from "../listing/list-position.js";
import { MOST_LISTED } from "../listing/list-slots.js";
import { loggedSessions } from "./logged-sessions.js";

/**
 * One page of a user's sessions that have a log, the one written to last first, to the minute.
 *
 * It pages as a listing of states does: none is shown twice, one that moved to the front in between is missed.
 *
 * @throws InvalidInputError | InvalidIdError | StoreUnavailableError
 */
export async function listSessions(
  database: Database,
  query: LogSessionQuery,
): Promise<LogSessionPage> {
  checkSessionQuery(query);
  const limit = Math.min(checkLimit(query.limit, 100), MOST_LISTED);
  const after = readCursor(query.cursor);
  const what = "listing the sessions of a log";
  const found = await loggedSessions(database, what, query, after, limit + 1);
  const page = found.slice(0, limit);
  const sessions = page.map(({ slot, listedAt }) => ({ slot, lastAt: isoTime(listedAt) }));
  const last = page.at(-1);
  return found.length > limit && last !== undefined
    ? { sessions, cursor: writeCursor(last) }
    : { sessions };
}

/** To the millisecond, as every time in Holdfast. */
function isoTime(listedAt: string): string {
  return `${listedAt.slice(0, 10)}T${listedAt.slice(11, 23)}Z`;
}
