import {
  type JsonObject,
  type Message,
  type SessionInfo,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { type CallRecord, describeSlot, type LoadedState } from "@holdfast/core/store-kit";
import type { RedisReply } from "../connection/redis-connection.js";
import {
  either,
  isText,
  isTextOrNull,
  listOf,
  type ReplyShape,
  verdict,
} from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";
import { refreshLua } from "../gate/refresh-lua.js";

/**
 * Lua functions that read a stored state; for scripts that begin with `refreshLua`.
 *
 * - `state`: a hash. `slot` is the ids as JSON, `rev` the revision, `n` the number of messages, `head` its JSON, `at` the
 *   time of the last save in milliseconds, `ttl` its `ttlMs`, and `o0`, `o1`, … the ring buffer of the last saves, each as
 *   `<op as JSON>\t<revision>` at the number of its revision modulo the size of the ring.
 *   `info` is the JSON of the facts for listings, `gone` ids of entries that the inbox had, `wait` the op, as
 *   JSON, of the save from which the session waits for an answer.
 * - `messages`: a list of JSON texts.
 * - `call-records`: a list, newest first, of `<callId as JSON>\t<record as JSON>`.
 */
export const stateLua: string = `
local STATE, MESSAGES, RECORDS = KEYS[4], KEYS[5], KEYS[10]

-- Describes how the stored state is damaged; nil when it is not.
local function damage(slot, stored_slot, rev, n)
  local count = redis.call('LLEN', MESSAGES)
  if not (stored_slot and rev and n) then
    if redis.call('EXISTS', STATE) == 1 then return 'its head is incomplete' end
    return count > 0 and 'it has messages but no head'
  end
  if stored_slot ~= slot then return 'it belongs to another session' end
  if tonumber(n) ~= count then
    return n .. ' messages were saved, ' .. count .. ' are stored'
  end
end

local function load_state(slot, known, ttl_ms)
  local stored = redis.call('HMGET', STATE, 'slot', 'rev', 'n')
  local rev = stored[2]
  local problem = damage(slot, stored[1], rev, stored[3])
  if problem then return {'corrupt', problem} end
  if not rev then return {'absent'} end
  refresh(ttl_ms, 4)
  if known == 'r' .. rev then return {'unchanged'} end
  local body = redis.call('HMGET', STATE, 'head', 'info')
  if not body[1] then return {'corrupt', 'its head is incomplete'} end
  local messages, records = redis.call('LRANGE', MESSAGES, 0, -1), redis.call('LRANGE', RECORDS, 0, -1)
  return {'state', rev, body[1], messages, records, body[2]}
end
`;

/** Replies of `load_state`. */
export const loadReply: ReplyShape = either(
  verdict("state", isText, isText, listOf(isText), listOf(isText), isTextOrNull),
  verdict("unchanged"),
  verdict("absent"),
  verdict("corrupt", isText),
);

/**
 * Loads a state. KEYS `slotKeys`. ARGV: slot, known, ttlMs.
 *
 * Counts as a read: it writes nothing but expiry times, so a lost answer leaves no unknown outcome.
 */
export const loadScript: Script = defineScript(
  "load",
  false,
  `${refreshLua}${stateLua}\nreturn load_state(ARGV[1], ARGV[2], tonumber(ARGV[3]))\n`,
  loadReply,
);

/** Raw ids as they are stored with a state, whose key is only a hash of them. */
export function slotField({ agentId, userId, sessionId }: Slot): string {
  return JSON.stringify([agentId, userId, sessionId]);
}

/**
 * Reads the reply of `load_state`.
 *
 * @throws StateCorruptError
 */
export function readStoredState(slot: Slot, reply: RedisReply): LoadedState | "unchanged" | null {
  const [kind, first, head, messages, records, info] = Array.isArray(reply) ? reply : [];
  if (kind === "absent") return null;
  if (kind === "unchanged") return kind;
  if (kind !== "state" || !Array.isArray(messages) || !Array.isArray(records))
    throw corruptState(slot, String(first));
  return {
    revision: String(first),
    head: parse(slot, head, "its head") as JsonObject,
    messages: messages.map((text, index) => parse(slot, text, `message ${index}`) as Message),
    callRecords: records.map((text) => readCallRecord(slot, text)),
    ...(typeof info === "string" && { info: parse(slot, info, "its info") as SessionInfo }),
  };
}

function readCallRecord(slot: Slot, text: RedisReply): CallRecord {
  const json = String(text);
  return parse(slot, json.slice(json.indexOf("\t") + 1), "a call record") as CallRecord;
}

/** Error of a stored state that is not what was saved. */
export function corruptState(slot: Slot, problem: string): StateCorruptError {
  return new StateCorruptError(`the stored state of ${describeSlot(slot)} is damaged: ${problem}`);
}

function parse(slot: Slot, text: RedisReply, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch {
    // The parser's own message quotes the text, and contents stay out of errors.
  }
  if (!isRecord(value)) throw corruptState(slot, `${what} is not a JSON object`);
  return value;
}
