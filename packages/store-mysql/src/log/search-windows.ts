import type { LogQuery, Slot } from "@holdfast/core";
import type { Database } from "../connection/database.js";
import { LIST_START, type ListPosition } from "../listing/list-position.js";
import { type LoggedSession, loggedSession, loggedSessions } from "./logged-sessions.js";

/** A session that a search looks through. */
export type SearchedSession = Pick<LoggedSession, "k" | "slot" | "lastSeq">;

/** Records of a session with seqs over `after`, up to `last`. */
export interface SearchWindow {
  readonly session: SearchedSession;
  readonly after: number;
  readonly last: number;
}

/** Windows of one statement: a user with many short sessions should not cost a statement for each. */
export const WINDOWS = 8;

/** Every record of the sessions, newest first in each, in groups for one statement of at most `records` each. */
export function* searchWindows(
  sessions: readonly SearchedSession[],
  records: number,
): Generator<readonly SearchWindow[]> {
  let group: SearchWindow[] = [];
  let room = records;
  for (const session of sessions)
    for (let last = session.lastSeq; last > 0; ) {
      const after = Math.max(last - room, 0);
      group.push({ session, after, last });
      room -= last - after;
      last = after;
      if (room > 0 && group.length < WINDOWS) continue;
      yield group;
      group = [];
      room = records;
    }
  if (group.length > 0) yield group;
}

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
