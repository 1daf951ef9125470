import {
  type JsonObject,
  type Message,
  type SessionInfo,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { type CallRecord, describeSlot, type LoadAnswer } from "@holdfast/core/store-kit";
import type { RedisReply } from "../connection/redis-connection.js";
import {
  either,
  isNumber,
  isText,
  isTextOrNull,
  listOf,
  type ReplyShape,
  textIn,
  tuple,
  verdict,
} from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";
import { refreshLua } from "../gate/refresh-lua.js";
import { messageText } from "../log/append-log.js";
import { defineSlotScript } from "../slot-script.js";
import { changeLua } from "./change-lua.js";
import { referencesLua } from "./references-lua.js";

/**
 * Lua functions over a stored state, for scripts of `defineSlotScript`.
 *
 * - `state`: a hash. `slot` is the ids as JSON, `rev` the revision, `n` the number of messages, `head` its JSON, `at` the
 *   time of the last save in milliseconds, `ttl` its `ttlMs`, and `o0`, `o1`, … the ring buffer of the last saves, each as
 *   `<op as JSON>\t<revision>` at the number of its revision modulo the size of the ring.
 *   `info` is the JSON of the facts for listings, `gone` ids of entries that the inbox had, `wait` the op, as
 *   JSON, of the save from which the session waits for an answer; `change`, `c0`, `c1`, … are the ledger of `changeLua`;
 *   `refs` and `doc` belong to `referencesLua`.
 * - `messages`: a list of JSON texts and of references to the log.
 * - `call-records`: a list, newest first, of `<callId as JSON>\t<record as JSON>`.
 */
export const storedStateLua: string = `
${changeLua}${referencesLua}
local NO_LOG = 'the log that has its messages is gone'

-- Describes how the stored state is damaged; nil when it is not.
local function damage(slot, stored_slot, rev, n, refs)
  local count = redis.call('LLEN', MESSAGES)
  if not (stored_slot and rev and n) then
    if redis.call('EXISTS', STATE) == 1 then return 'its head is incomplete' end
    return count > 0 and 'it has messages but no head'
  end
  if stored_slot ~= slot then return 'it belongs to another session' end
  if tonumber(n) ~= count then
    return n .. ' messages were saved, ' .. count .. ' are stored'
  end
  local seq = read_refs(refs, rev)
  if seq and redis.call('LLEN', LOG) < seq then return NO_LOG end
end
`;

/** Lua functions that load a state; for scripts that begin with `refreshLua`. */
export const stateLua: string = `${storedStateLua}
-- Indexes and texts of messages that were replaced, which are stored as they are.
local function texts_at(indexes)
  local found = {}
  for _, index in ipairs(indexes) do
    found[#found + 1] = tostring(index)
    found[#found + 1] = redis.call('LINDEX', MESSAGES, index)
  end
  return found
end

local function load_state(slot, known, ttl_ms)
  local stored = redis.call('HMGET', STATE, 'slot', 'rev', 'n', 'change', 'refs')
  local rev = stored[2]
  local problem = damage(slot, stored[1], rev, stored[3], stored[5])
  if problem then return {'corrupt', problem} end
  if not rev then return {'absent'} end
  refresh(ttl_ms, 4)
  if known == 'r' .. rev then return {'unchanged'} end
  local has_refs, start = read_refs(stored[5], rev)
  if has_refs and start ~= log_start() then return {'corrupt', NO_LOG} end
  local body = redis.call('HMGET', STATE, has_refs and 'doc' or 'head', 'info')
  if not body[1] then return {'corrupt', 'its head is incomplete'} end
  local records = redis.call('LRANGE', RECORDS, 0, -1)
  local from, since, is_forked = string.sub(known, 2), nil, false
  if known ~= '' then since, is_forked = changes_since(stored[4], rev, from) end
  if since then
    local appended = redis.call('LRANGE', MESSAGES, since.keep, -1)
    local flags = fetch(appended)
    if not flags then return {'corrupt', NO_LOG} end
    local replaced = texts_at(kept_indexes(since))
    return {'change', rev, body[1], appended, flags, records, body[2], from, since.keep, replaced}
  end
  local messages = redis.call('LRANGE', MESSAGES, 0, -1)
  local flags = fetch(messages)
  if not flags then return {'corrupt', NO_LOG} end
  return {'state', rev, body[1], messages, flags, records, body[2], is_forked and 1 or 0}
end
`;

/** Revision, head, messages, flags of those that are records of the log, call records and info. */
const storedParts = [
  ...[isText, isText, listOf(isText), isText],
  ...[listOf(isText), isTextOrNull],
] as const;

/** Replies of `load_state`. */
export const loadReply: ReplyShape = either(
  verdict("state", ...storedParts, isNumber),
  verdict("change", ...storedParts, isText, isNumber, listOf(isText)),
  verdict("unchanged"),
  verdict("absent"),
  verdict("corrupt", isText),
);

/**
 * Loads a state. KEYS `loadKeys`. ARGV: slot, known, ttlMs.
 *
 * Counts as a read: it writes nothing but expiry times, so a lost answer leaves no unknown outcome.
 */
export const loadScript: Script = defineSlotScript(
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
export function readStoredState(slot: Slot, reply: RedisReply): LoadAnswer {
  const [kind, first, head, texts, flags, records, info, ...rest] = Array.isArray(reply)
    ? reply
    : [];
  if (kind === "absent") return null;
  if (kind === "unchanged") return kind;
  if ((kind !== "state" && kind !== "change") || !Array.isArray(texts) || !Array.isArray(records))
    throw corruptState(slot, String(first));
  const textAt = (text: RedisReply, index: number): RedisReply =>
    String(flags)[index] === "1" ? messageText(String(text)) : text;
  const stored = {
    revision: String(first),
    head: parse(slot, head, "its head") as JsonObject,
    callRecords: records.map((text) => readCallRecord(slot, text)),
    ...(typeof info === "string" && { info: parse(slot, info, "its info") as SessionInfo }),
  };
  if (kind === "state") {
    const messages = texts.map((text, index) => readMessage(slot, textAt(text, index), index));
    return { ...stored, messages, ...(rest[0] === 1 && { rolledBack: true }) };
  }
  const [from, kept, replaced] = rest;
  const keep = Number(kept);
  const append = texts.map((text, index) => readMessage(slot, textAt(text, index), keep + index));
  const replace = readReplaced(slot, Array.isArray(replaced) ? replaced : []);
  return { ...stored, from: String(from), keep, replace, append };
}

/** Reads indexes and messages that follow each other. */
function readReplaced(slot: Slot, parts: readonly RedisReply[]): [number, Message][] {
  return Array.from({ length: parts.length / 2 }, (_, pair) => {
    const index = Number(parts[2 * pair]);
    return [index, readMessage(slot, parts[2 * pair + 1] ?? null, index)];
  });
}

function readMessage(slot: Slot, text: RedisReply, index: number): Message {
  return parse(slot, text, `message ${index}`) as Message;
}

function readCallRecord(slot: Slot, text: RedisReply): CallRecord {
  const json = String(text);
  return parse(slot, json.slice(json.indexOf("\t") + 1), "a call record") as CallRecord;
}

/** Error of a stored state that is not what was saved. */
export function corruptState(slot: Slot, problem: string): StateCorruptError {
  return new StateCorruptError(
    `the stored state of ${describeSlot(slot)} is damaged: ${problem}; restore it from a backup, or remove the session with deleteSession, its log included`,
  );
}

function parse(slot: Slot, text: RedisReply | undefined, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(String(text));
  } catch {
    // The parser's own message quotes the text, and contents stay out of errors.
  }
  if (!isRecord(value)) throw corruptState(slot, `${what} is not a JSON object`);
  return value;
}

/**
 * Deletes a state in any condition, and all that is kept beside it. KEYS: state, messages, inbox, call-records. Returns what
 * came of it, and the wait that has ended with it, if any.
 */
export const deleteScript: Script = defineScript(
  "delete",
  true,
  `local wait = redis.pcall('HGET', KEYS[1], 'wait')
   redis.call('UNLINK', KEYS[3], KEYS[4])
   local found = redis.call('UNLINK', KEYS[1], KEYS[2])
   return {found == 0 and 'absent' or 'deleted', type(wait) == 'string' and wait}`,
  tuple(textIn("deleted", "absent"), isTextOrNull),
);
