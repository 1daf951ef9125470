import type { SessionInfo, Slot, SlotInfo } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { listedInfo } from "@holdfast/core/store-kit";
import type { RedisConnection, RedisReply } from "../connection/redis-connection.js";
import { isNumber, isTextOrNull, tuple } from "../connection/reply-shape.js";
import { defineScript } from "../connection/script.js";
import { inboxLua } from "../inbox/inbox-lua.js";
import { partKey } from "../keys.js";

/**
 * Looks up what a listing shows of a session. KEYS: state, inbox. Returns n, at, info, since when it waits, and 1 when the inbox
 * holds an input.
 */
const lookScript = defineScript(
  "look",
  false,
  `${inboxLua}
local found = redis.call('HMGET', KEYS[1], 'n', 'at', 'info', 'wait')
return {found[1], found[2], found[3], found[4], has_input(KEYS[2])}
`,
  tuple(isTextOrNull, isTextOrNull, isTextOrNull, isTextOrNull, isNumber),
);

/** Session as a listing shows it. */
export interface FoundSession {
  readonly listed: SlotInfo;
  /** Op of the save from which it waits, as JSON; null when it does not, or an earlier release saved it. */
  readonly waitsSince: string | null;
}

/**
 * Returns what a listing shows of a session; null when it does not exist.
 *
 * @param touchedAt - time of a session that was never saved
 */
export async function lookUpSession(
  connection: RedisConnection,
  keyPrefix: string,
  slot: Slot,
  touchedAt: number,
): Promise<FoundSession | null> {
  const keys = [partKey(keyPrefix, slot, "state"), partKey(keyPrefix, slot, "inbox")];
  const reply = await connection.run("listing sessions", lookScript, keys, []);
  const [messages, at, text, since, hasInput] = Array.isArray(reply) ? reply : [];
  const isSaved = typeof messages === "string" && typeof at === "string";
  if (!isSaved && hasInput !== 1) return null;
  const info = listedInfo(readInfo(text), hasInput === 1);
  const updatedAt = new Date(isSaved ? Number(at) : touchedAt).toISOString();
  const session = { slot, updatedAt, messages: isSaved ? Number(messages) : 0 };
  return {
    listed: info === undefined ? session : { ...session, info },
    waitsSince: typeof since === "string" ? since : null,
  };
}

/** Reads the facts stored with a state; what cannot be read is left out. */
function readInfo(text: RedisReply | undefined): SessionInfo | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
