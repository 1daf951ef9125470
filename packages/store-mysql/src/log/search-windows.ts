import type { LoggedSession } from "./logged-sessions.js";

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
