import type { SlotInfo, SlotPage, SlotQuery } from "@holdfast/core";
import { checkId, checkLimit } from "@holdfast/core/store-kit";
import { asBytes, asNumber, asText, asTextOrNull, type Row } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { agentHash, ownerHash } from "../keys.js";
import {
  BEHIND,
  LIST_ORDER,
  LISTED_AT,
  positionValues,
  readCursor,
  writeCursor,
} from "./list-position.js";

/** However many are asked for, one statement reads no more. */
export const MOST_LISTED = 1_000;

/**
 * One page of sessions, newest first to the minute, straight from an index.
 *
 * A listing that goes on from a cursor shows no session twice; it misses one that moved to the front in between.
 */
export async function listSlots(database: Database, query: SlotQuery): Promise<SlotPage> {
  const limit = Math.min(checkLimit(query.limit, 100), MOST_LISTED);
  const { condition, values } = narrow(query);
  const after = readCursor(query.cursor);
  const rows = await database.read(
    "listing sessions",
    `SELECT agent_id, user_id, session_id, n, DATE_FORMAT(updated_at, '%Y-%m-%dT%H:%i:%s.%f'), ${LISTED_AT}, k
FROM ${database.tables.slots}
WHERE ${condition}rev IS NOT NULL AND ${BEHIND} ${LIST_ORDER} LIMIT ?`,
    // A string: servers differ in which numbers they take here.
    [...values, ...positionValues(after), String(limit + 1)],
  );
  const page = rows.slice(0, limit);
  const slots = page.map(readInfo);
  const last = page.at(-1);
  return rows.length > limit && last !== undefined
    ? { slots, cursor: writeCursor({ listedAt: asText(last[5]), k: asBytes(last[6]) }) }
    : { slots };
}

/** Of which index to read which part. */
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
    // To the millisecond, as every time in Holdfast.
    updatedAt: `${asText(updatedAt).slice(0, 23)}Z`,
    messages: asNumber(messages),
  };
}
