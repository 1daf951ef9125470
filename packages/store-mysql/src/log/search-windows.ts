import type { Slot } from "@holdfast/core";
import type { LogQuery } from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { LIST_START, type ListPosition } from "../listing/list-position.js";
import { type LoggedSession, loggedSession, loggedSessions } from "./logged-sessions.js";

/** A session to search. */
export type SearchedSession = Pick<LoggedSession, "k" | "slot" | "lastSeq">;

/** Records of a session with seqs over `after`, up to `last`. */
export interface SearchWindow {
  readonly session: SearchedSession;
  readonly after: number;
  readonly last: number;
}

/** Many short sessions share one statement. */
export const WINDOWS_PER_STATEMENT = 8;

/** Splits the sessions into windows, newest first in each, grouped for statements of at most `records` records. */
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
      if (room > 0 && group.length < WINDOWS_PER_STATEMENT) continue;
      yield group;
      group = [];
      room = records;
    }
  if (group.length > 0) yield group;
}

/** Sessions read per statement. */
const SESSIONS_PER_STATEMENT = 256;
const what = "searching the log";

/**
 * Iterates over the sessions to search, in batches, in the order of their listing: from `query.before` on, or all of them when
 * that session no longer has a log.
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
    if (only !== null) yield [withoutRecordsFrom(only, last)];
    return;
  }
  let position: ListPosition = LIST_START;
  const first = before === undefined ? null : await find(before.sessionId);
  if (first !== null && before !== undefined) {
    yield [withoutRecordsFrom(first, before.seq)];
    position = first;
  }
  for (;;) {
    const sessions = await loggedSessions(database, what, owner, position, SESSIONS_PER_STATEMENT);
    yield sessions;
    const last = sessions.at(-1);
    if (last === undefined || sessions.length < SESSIONS_PER_STATEMENT) return;
    position = last;
  }
}

/** Returns the session without its records from `seq` on. */
function withoutRecordsFrom(session: LoggedSession, seq: number): SearchedSession {
  return { ...session, lastSeq: Math.min(session.lastSeq, seq - 1) };
}
