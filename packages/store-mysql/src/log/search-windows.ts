import type { Slot } from "@holdfast/core";

/** A session that a search looks through. */
export interface SearchedSession {
  readonly k: Buffer;
  readonly slot: Slot;
  /** The newest record's. */
  readonly lastSeq: number;
}

/** Records of a session with seqs over `after`, up to `last`. */
export interface SearchWindow {
  readonly session: SearchedSession;
  readonly after: number;
  readonly last: number;
}

/** Windows of one statement: a user with many short sessions should not cost a statement for each. */
export const WINDOWS = 8;
/** Records of one statement: so few that it ends long before its time is up. */
export const WINDOW_RECORDS = 512;

/** Every record of the sessions, newest first in each, in groups for one statement each. */
export function* searchWindows(
  sessions: readonly SearchedSession[],
): Generator<readonly SearchWindow[]> {
  let group: SearchWindow[] = [];
  let room = WINDOW_RECORDS;
  for (const session of sessions)
    for (let last = session.lastSeq; last > 0; ) {
      const after = Math.max(last - room, 0);
      group.push({ session, after, last });
      room -= last - after;
      last = after;
      if (room > 0 && group.length < WINDOWS) continue;
      yield group;
      group = [];
      room = WINDOW_RECORDS;
    }
  if (group.length > 0) yield group;
}
