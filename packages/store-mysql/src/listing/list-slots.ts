import type { SessionInfo, SlotInfo, SlotPage, SlotQuery } from "@holdfast/core";
import { checkId, checkLimit, listedInfo, matchInfo } from "@holdfast/core/store-kit";
import { asBytes, asNumber, asText, asTextOrNull, type Row } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { andUnexpired } from "../expiry/last-use.js";
import { HAS_INPUT } from "../inbox/inbox-column.js";
import { agentHash, ownerHash } from "../keys.js";
import {
  AFTER_POSITION,
  LIST_ORDER,
  LISTED_AT,
  type ListPosition,
  positionValues,
} from "./list-position.js";
import { readListingCursor, withShown, writeListingCursor } from "./listing-cursor.js";

/** Largest page: one statement reads no more, even when more is asked for. */
export const MAX_PAGE_SIZE = 1_000;

/**
 * Condition for rows of sessions: those with a state, and those whose first call has only said something. The log alone is no
 * session. An earlier release leaves `unfinished` as it is when it deletes a state, so the inbox is looked at as well.
 */
export const IS_SESSION: string = `(rev IS NOT NULL OR (unfinished = 1 AND ${HAS_INPUT}))`;

/** Hint that has a listing of the sessions that wait read no others. */
export const WAITING_INDEX = " FORCE INDEX (by_awaits_answer)";

/** A listed session and its position. */
interface Listed extends ListPosition {
  readonly info: SlotInfo;
  /** Saves with an earlier `listed_at` were visible to the statement that read this. */
  readonly pin: string;
}

/** Part of a statement, with its values. */
interface Fragment {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Condition for the sessions of a query, and the index to find them with, where the server is not to choose one. */
interface Selection extends Fragment {
  readonly hint: string;
}

/**
 * Returns one page of sessions, most recently updated first, to the minute, straight from an index.
 *
 * A listing that continues from a cursor misses none of the sessions that were there all the time: those that a save has
 * moved to the front since the first page come at the end, in an order that no save changes.
 */
export async function listSlots(database: Database, query: SlotQuery): Promise<SlotPage> {
  const { slots, cursor } = await readPage(database, query);
  // An earlier release leaves `awaits_answer` as it is.
  const isSelected = matchInfo(query);
  const selected = slots.map(({ info }) => info).filter(({ info }) => isSelected(info));
  return cursor === undefined ? { slots: selected } : { slots: selected, cursor };
}

interface ListedPage {
  readonly slots: readonly Listed[];
  readonly cursor?: string;
}

async function readPage(database: Database, query: SlotQuery): Promise<ListedPage> {
  const limit = Math.min(checkLimit(query.limit, 100), MAX_PAGE_SIZE);
  const which = narrow(query);
  const at = readListingCursor(query.cursor);
  const inPlace =
    at.position === null
      ? []
      : await readSlots(database, which, sinceUnmoved(at.position), limit + 1);
  const page = inPlace.slice(0, limit);
  const pin = at.pin ?? page[0]?.pin ?? "";
  const shown = withShown(
    at.shown,
    page.filter(({ listedAt }) => listedAt >= pin),
  );
  const last = page.at(-1);
  if (inPlace.length > limit && last !== undefined)
    return {
      slots: page,
      cursor: writeListingCursor({ ...at, pin, position: last, shown }),
    };
  // A single statement has read everything.
  if (query.cursor === undefined) return { slots: page };
  const room = limit - page.length;
  const { movedAfter } = at;
  const found = await readSlots(database, which, moved(pin, movedAfter), room + 1 + shown.length);
  const left = found.filter(({ k }) => !shown.some((start) => k.indexOf(start) === 0));
  const slots = [...page, ...left.slice(0, room)];
  if (left.length <= room) return { slots };
  const next = { pin, position: null, shown, movedAfter: left[room - 1]?.k ?? movedAfter };
  return { slots, cursor: writeListingCursor(next) };
}

/** Selects the sessions after a position that were not moved since. */
function sinceUnmoved(position: ListPosition): Fragment {
  return { sql: `${AFTER_POSITION} ${LIST_ORDER}`, values: positionValues(position) };
}

/** Selects the sessions that a save may have moved since `pin`. */
function moved(pin: string, after: Buffer): Fragment {
  return { sql: "listed_at >= CAST(? AS DATETIME(6)) AND k > ? ORDER BY k", values: [pin, after] };
}

/** Selects the sessions of a query, by the start of an index. */
function narrow(query: SlotQuery): Selection {
  const { sql, values } = ownedBy(query);
  const open = query.unfinished === true ? "unfinished = 1 AND " : "";
  if (query.waiting !== true) return { hint: "", sql: `${open}${sql}`, values };
  // The few that wait, also of one agent: servers might go through all of its sessions instead, in the order of the listing.
  return { hint: WAITING_INDEX, sql: `awaits_answer = 1 AND ${open}${sql}`, values };
}

function ownedBy({ agentId, userId }: SlotQuery): Fragment {
  if (agentId !== undefined) checkId(agentId, "agentId");
  if (userId !== undefined && userId !== null) checkId(userId, "userId");
  if (agentId !== undefined)
    return userId === undefined
      ? { sql: "agent = ? AND ", values: [agentHash(agentId)] }
      : { sql: "owner = ? AND ", values: [ownerHash(agentId, userId)] };
  if (userId === undefined) return { sql: "", values: [] };
  const user = userId === null ? null : Buffer.from(userId, "utf8");
  return { sql: "user_id <=> ? AND ", values: [user] };
}

async function readSlots(
  database: Database,
  which: Selection,
  part: Fragment,
  limit: number,
): Promise<readonly Listed[]> {
  // A save sets its time before others can see it; this is twice the time it may take in between.
  const hiddenMicros = 2_000 * database.commandTimeoutMs;
  const rows = await database.read(
    "listing sessions",
    `SELECT agent_id, user_id, session_id, n, DATE_FORMAT(COALESCE(updated_at, listed_at), '%Y-%m-%dT%H:%i:%s.%f'), IF(rev IS NULL, NULL, info), unfinished, k, ${LISTED_AT},
DATE_FORMAT(UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND, '%Y-%m-%d %H:%i:%s.%f')
FROM ${database.tables.slots}${which.hint} WHERE ${which.sql}${IS_SESSION}${andUnexpired(database)} AND ${part.sql} LIMIT ?`,
    // The limit as a string: servers differ in which numbers they accept here.
    [hiddenMicros, ...which.values, ...part.values, String(limit)],
  );
  return rows.map((row) => ({
    info: readInfo(row),
    k: asBytes(row[7]),
    listedAt: asText(row[8]),
    pin: asText(row[9]),
  }));
}

function readInfo(row: Row): SlotInfo {
  const [agentId, userId, sessionId, messages, updatedAt, saved, unfinished] = row;
  const info = listedInfo(savedInfo(asTextOrNull(saved)), asNumber(unfinished) === 1);
  return {
    slot: {
      agentId: asText(agentId),
      userId: asTextOrNull(userId),
      sessionId: asText(sessionId),
    },
    // To the millisecond, like every time in Holdfast.
    updatedAt: `${asText(updatedAt).slice(0, 23)}Z`,
    messages: asNumber(messages),
    ...(info !== undefined && { info }),
  };
}

/** Facts given with the last save; none when they cannot be read, which must not hide the sessions around. */
function savedInfo(text: string | null): SessionInfo | undefined {
  try {
    return text === null ? undefined : (JSON.parse(text) as SessionInfo);
  } catch {
    return undefined;
  }
}
