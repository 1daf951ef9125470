import type { Slot } from "@holdfast/core";
import type { LogQuery } from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { LIST_START, type ListPosition } from "../listing/list-position.js";
import { type LoggedSession, loggedSession, loggedSessions } from "./logged-sessions.js";
import type { SearchedSession } from "./search-windows.js";

/** Sessions of one statement. */
const SESSIONS = 256;
const what = "searching the log";

/**
 * The sessions to search, some at a time, in the order of their listing: from `query.before` on, or all of them where that
 * session has no log any more.
 */
export async function* searchedSessions(
  database: Database,
  { agentId, userId, sessionId, before }: LogQuery,
): AsyncGenerator<readonly SearchedSession[]> {
  const owner = { agentId, userId };
  const find = (session: string): Promise<LoggedSession | null> =>
    loggedSession(database, what, { ...owner, sessionId: session } satisfies Slot);
  if (sessionId !== undefined) {
    const only = await find(sessionId);
    const last = before?.sessionId === sessionId ? before.seq : Infinity;
    if (only !== null) yield [upTo(only, last)];
    return;
  }
  let position: ListPosition = LIST_START;
  const first = before === undefined ? null : await find(before.sessionId);
  if (first !== null && before !== undefined) {
    yield [upTo(first, before.seq)];
    position = first;
  }
  for (;;) {
    const sessions = await loggedSessions(database, what, owner, position, SESSIONS);
    yield sessions;
    const last = sessions.at(-1);
    if (last === undefined || sessions.length < SESSIONS) return;
    position = last;
  }
}

/** The session without its records from `seq` on. */
function upTo(session: LoggedSession, seq: number): SearchedSession {
  return { ...session, lastSeq: Math.min(session.lastSeq, seq - 1) };
}
