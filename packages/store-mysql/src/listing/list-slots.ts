import {
  checkId,
  checkLimit,
  InvalidInputError,
  type SlotInfo,
  type SlotPage,
  type SlotQuery,
} from "@holdfast/core";
import { asBytes, asNumber, asText, asTextOrNull, type Row } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { agentHash, ownerHash } from "../keys.js";

/** Where a listing goes on: behind this time and key. */
interface Position {
  readonly listedAt: string;
  readonly k: Buffer;
}

const START: Position = { listedAt: "9999-12-31 00:00:00.000000", k: Buffer.alloc(32, 255) };
const TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{6}$/;
/** However many are asked for, one statement reads no more. */
const MOST = 1_000;

/**
 * One page of sessions, newest first to the minute, straight from an index.
 *
 * A listing that goes on from a cursor shows no session twice; it misses one that moved to the front in between.
 */
export async function listSlots(database: Database, query: SlotQuery): Promise<SlotPage> {
  const limit = Math.min(checkLimit(query.limit, 100), MOST);
  const { condition, values } = narrow(query);
  const { listedAt, k } = query.cursor === undefined ? START : readCursor(query.cursor);
  const rows = await database.read(
    "listing sessions",
    `SELECT agent_id, user_id, session_id, n, DATE_FORMAT(updated_at, '%Y-%m-%dT%H:%i:%s.%f'), DATE_FORMAT(listed_at, '%Y-%m-%d %H:%i:%s.%f'), k
FROM ${database.tables.slots}
WHERE ${condition}listed_at <= CAST(? AS DATETIME(6)) AND (listed_at < CAST(? AS DATETIME(6)) OR k < ?)
ORDER BY listed_at DESC, k DESC LIMIT ?`,
    // A string: servers differ in which numbers they take here.
    [...values, listedAt, listedAt, k, String(limit + 1)],
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

function writeCursor({ listedAt, k }: Position): string {
  return Buffer.from(`${listedAt}${k.toString("hex")}`, "utf8").toString("base64url");
}

/** @throws InvalidInputError */
function readCursor(cursor: string): Position {
  const text = Buffer.from(cursor, "base64url").toString("utf8");
  const [listedAt, hex] = [text.slice(0, 26), text.slice(26)];
  if (!TIME.test(listedAt) || !/^[0-9a-f]{64}$/.test(hex))
    throw new InvalidInputError("the cursor is not one of this store's listings");
  return { listedAt, k: Buffer.from(hex, "hex") };
}
