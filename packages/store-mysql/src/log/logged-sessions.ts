import type { Slot } from "@holdfast/core";
import {
  checkLimit,
  checkSessionQuery,
  type LogSessionPage,
  type LogSessionQuery,
} from "@holdfast/core/store-kit";
import { asBytes, asNumber, asText, type Row } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { andUnexpired } from "../expiry/last-use.js";
import { ownerHash, slotHash } from "../keys.js";
import {
  AFTER_POSITION,
  LIST_ORDER,
  LISTED_AT,
  type ListPosition,
  positionValues,
  readCursor,
  writeCursor,
} from "../listing/list-position.js";
import { MAX_PAGE_SIZE } from "../listing/list-slots.js";

/** A session that has a log, and its position in listings and searches. */
export interface LoggedSession extends ListPosition {
  readonly slot: Slot;
  /** Seq of the newest record. */
  readonly lastSeq: number;
}

/**
 * Returns one page of a user's sessions that have a log, most recently updated first, to the minute.
 *
 * It pages like a listing of states: none is shown twice, one that moved to the front in between is missed.
 *
 * @throws InvalidInputError | InvalidIdError | StoreUnavailableError
 */
export async function listSessions(
  database: Database,
  query: LogSessionQuery,
): Promise<LogSessionPage> {
  checkSessionQuery(query);
  const limit = Math.min(checkLimit(query.limit, 100), MAX_PAGE_SIZE);
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

const COLUMNS = `k, session_id, log_seq, ${LISTED_AT}`;

/** Returns the next `limit` sessions of a user after a position, most recently updated first, to the minute. */
export async function loggedSessions(
  database: Database,
  what: string,
  owner: Pick<Slot, "agentId" | "userId">,
  after: ListPosition,
  limit: number,
): Promise<LoggedSession[]> {
  const rows = await database.read(
    what,
    `SELECT ${COLUMNS} FROM ${database.tables.slots} WHERE owner = ? AND log_seq > 0${andUnexpired(database)} AND ${AFTER_POSITION} ${LIST_ORDER} LIMIT ?`,
    [ownerHash(owner.agentId, owner.userId), ...positionValues(after), String(limit)],
  );
  return rows.map((row) => readSession(owner, row));
}

/** Returns one session; null when it has no log. */
export async function loggedSession(
  database: Database,
  what: string,
  slot: Slot,
): Promise<LoggedSession | null> {
  const [row] = await database.read(
    what,
    `SELECT ${COLUMNS} FROM ${database.tables.slots} WHERE k = ? AND log_seq > 0${andUnexpired(database)}`,
    [slotHash(slot)],
  );
  return row === undefined ? null : readSession(slot, row);
}

function readSession(
  { agentId, userId }: Pick<Slot, "agentId" | "userId">,
  [k, sessionId, lastSeq, listedAt]: Row,
): LoggedSession {
  return {
    k: asBytes(k),
    slot: { agentId, userId, sessionId: asText(sessionId) },
    lastSeq: asNumber(lastSeq),
    listedAt: asText(listedAt),
  };
}

/** Formats a time to the millisecond, like every time in Holdfast. */
function isoTime(listedAt: string): string {
  return `${listedAt.slice(0, 10)}T${listedAt.slice(11, 23)}Z`;
}
