import type { SlotInfo, SlotPage, SlotQuery } from "@holdfast/core";
import { checkId, checkLimit } from "@holdfast/core/store-kit";
import { asBytes, asNumber, asText, asTextOrNull, type Row } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { agentHash, ownerHash } from "../keys.js";
import {
  AFTER_POSITION,
  LIST_ORDER,
  LISTED_AT,
  positionValues,
  readCursor,
  writeCursor,
} from "./list-position.js";

/** Largest page: one statement reads no more, even when more is asked for. */
export const MAX_PAGE_SIZE = 1_000;

/**
 * Returns one page of sessions, most recently updated first, to the minute, straight from an index.
 *
 * A listing that continues from a cursor shows no session twice; it misses one that moved to the front in between.
 */
export async function listSlots(database: Database, query: SlotQuery): Promise<SlotPage> {
  const limit = Math.min(checkLimit(query.limit, 100), MAX_PAGE_SIZE);
  const { condition, values } = narrow(query);
  const after = readCursor(query.cursor);
  const rows = await database.read(
    "listing sessions",
    `SELECT agent_id, user_id, session_id, n, DATE_FORMAT(updated_at, '%Y-%m-%dT%H:%i:%s.%f'), ${LISTED_AT}, k
FROM ${database.tables.slots}
WHERE ${condition}rev IS NOT NULL AND ${AFTER_POSITION} ${LIST_ORDER} LIMIT ?`,
    // A string: servers differ in which numbers they accept here.
    [...values, ...positionValues(after), String(limit + 1)],
  );
  const page = rows.slice(0, limit);
  const slots = page.map(readInfo);
  const last = page.at(-1);
  return rows.length > limit && last !== undefined
    ? { slots, cursor: writeCursor({ listedAt: asText(last[5]), k: asBytes(last[6]) }) }
    : { slots };
}

/** Condition that selects the index and the part of it to read. */
function narrow({ agentId, userId }: SlotQuery): { condition: string; values: readonly Value[] } {
  if (agentId !== undefined) checkId(agentId, "agentId");
  if (userId !== undefined && userId !== null) checkId(userId, "userId");
  if (agentId !== undefined)
    return userId === undefined
      ? { condition: "agent = ? AND ", values: [agentHash(agentId)] }
      : { condition: "owner = ? AND ", values: [ownerHash(agentId, userId)] };
  if (userId === undefined) return { condition: "", values: [] };
  return {
    condition: "user_id <=> ? AND ",
    values: [userId === null ? null : Buffer.from(userId, "utf8")],
  };
}

function readInfo([agentId, userId, sessionId, messages, updatedAt]: Row): SlotInfo {
  return {
    slot: {
      agentId: asText(agentId),
      userId: asTextOrNull(userId),
      sessionId: asText(sessionId),
    },
    // To the millisecond, like every time in Holdfast.
    updatedAt: `${asText(updatedAt).slice(0, 23)}Z`,
    messages: asNumber(messages),
  };
}
