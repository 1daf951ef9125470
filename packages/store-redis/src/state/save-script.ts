import type { Revision, Slot } from "@holdfast/core";
import {
  checkWrite,
  leaseLost,
  REMEMBERED_OPS,
  type StateWrite,
  stateConflict,
} from "@holdfast/core/store-kit";
import type { RedisReply } from "../connection/redis-connection.js";
import {
  either,
  isNumber,
  isText,
  isTextOrNull,
  textLike,
  verdict,
} from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";
import { gateLua } from "../gate/gate-lua.js";
import { refreshLua } from "../gate/refresh-lua.js";
import { inboxLua } from "../inbox/inbox-lua.js";
import { appendLogLua } from "../log/append-log.js";
import { corruptState, stateLua } from "./stored-state.js";

/** Form of revisions made with `nextRevision`. */
export const REVISION: RegExp = /^\d+\.[0-9a-f]+$/;

/** Fields of the ring buffer that remembers the last saves. */
const opFields = Array.from({ length: REMEMBERED_OPS }, (_, place) => `, 'o${place}'`).join("");

/**
 * Saves state and log records, takes entries out of the inbox and releases the lease, atomically. Every check comes before the
 * first write; after that nothing can fail.
 *
 * KEYS `slotKeys`. ARGV: slot, op as JSON, expected (`r<revision>`, or empty for none), revision, lease (`t<token>`, or empty
 * for none), 1 to release it, keep, head, ttlMs, the time, info (or empty for that of the save before), 1 when info says that
 * the session waits, callId of the call record as JSON (or empty for none), the record, the number of records to keep, number of
 * inbox entries to take and their ids as JSON, number of replacements and for each its index and text, number of appended messages and their texts, and the
 * arguments of `append_log`.
 *
 * Returns `saved`, the revision and the wait that the save has ended or replaced, if any, `lease`, `conflict` and the stored revision, `corrupt` and why, or `misfit` and the
 * number of messages stored.
 */
export const saveScript: Script = defineScript(
  "save",
  true,
  `${gateLua}${refreshLua}${stateLua}${inboxLua}${appendLogLua}
local slot, op, expected, rev = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local token, releases = string.sub(ARGV[5], 2), ARGV[6] == '1'
local keep, head, ttl_ms, at_ms = tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9]), ARGV[10]

local stored = redis.call('HMGET', STATE, 'slot', 'rev', 'n', 'ttl', 'wait'${opFields})
local stored_rev = stored[2]
local done = op .. '\\t'
for at = 6, #stored do
  if stored[at] and string.sub(stored[at], 1, #done) == done then
    -- Its holder may have taken the lease again meanwhile, not knowing that it was released.
    if releases and holds_lease(token) then leave(token) end
    return {'saved', string.sub(stored[at], #done + 1), false}
  end
end
if ARGV[5] ~= '' and not holds_lease(token) then return {'lease'} end
if expected ~= (stored_rev and 'r' .. stored_rev or '') then return {'conflict', stored_rev} end
local problem = damage(slot, stored[1], stored_rev, stored[3])
if problem then return {'corrupt', problem} end
local count = tonumber(stored[3] or 0)
if keep > count then return {'misfit', count} end

if keep == 0 then redis.call('DEL', MESSAGES)
elseif keep < count then redis.call('LTRIM', MESSAGES, 0, keep - 1) end
local taken = tonumber(ARGV[16])
local at = 18 + taken
for _ = 1, tonumber(ARGV[at - 1]) do
  redis.call('LSET', MESSAGES, ARGV[at], ARGV[at + 1])
  at = at + 2
end
local appended, messages_at = tonumber(ARGV[at]), at + 1
-- In batches: the arguments of a Lua call are limited.
for first = at + 1, at + appended, 1000 do
  redis.call('RPUSH', MESSAGES, unpack(ARGV, first, math.min(first + 999, at + appended)))
end
at = at + appended + 1

local place = 'o' .. tonumber(string.match(rev, '^%d+')) % ${REMEMBERED_OPS}
local fields = {'rev', rev, 'n', keep + appended, 'head', head, 'at', at_ms, place, done .. rev}
if ARGV[11] ~= '' then
  fields[11], fields[12] = 'info', ARGV[11]
end
redis.call('HSET', STATE, unpack(fields))
local ended = ARGV[11] ~= '' and stored[5]
if ARGV[12] == '1' then redis.call('HSET', STATE, 'wait', op)
elseif ended then redis.call('HDEL', STATE, 'wait') end
if taken > 0 then remove_entries(KEYS[9], STATE, 17, 16 + taken) end
if stored[1] ~= slot or stored[4] ~= ARGV[9] then redis.call('HSET', STATE, 'slot', slot, 'ttl', ARGV[9]) end
-- Without a state they belong to one that was deleted by a release that does not know them.
if not stored_rev then redis.call('DEL', RECORDS) end
if ARGV[13] ~= '' then
  local start, newest = ARGV[13] .. '\t', redis.call('LINDEX', RECORDS, 0)
  if newest and string.sub(newest, 1, #start) == start then redis.call('LPOP', RECORDS) end
  local kept = tonumber(ARGV[15])
  if kept < 1 then redis.call('DEL', RECORDS)
  elseif redis.call('LPUSH', RECORDS, start .. ARGV[14]) > kept then redis.call('LTRIM', RECORDS, 0, kept - 1) end
end
append_log(KEYS[6], KEYS[7], at, messages_at)
if releases and ARGV[5] ~= '' then leave(token) end
if ttl_ms > 0 then refresh(ttl_ms, 4)
elseif stored[4] ~= '0' then
  -- The keys may have been stored with a ttlMs.
  for key = 4, #KEYS do redis.call('PERSIST', KEYS[key]) end
end
return {'saved', rev, ended}
`,
  either(
    verdict("saved", textLike(REVISION), isTextOrNull),
    verdict("lease"),
    verdict("conflict", isTextOrNull),
    verdict("corrupt", isText),
    verdict("misfit", isNumber),
  ),
);

/**
 * Reads the reply of the save script.
 *
 * @throws LeaseLostError | StateConflictError | StateCorruptError
 */
export function savedRevision(
  slot: Slot,
  write: StateWrite,
  reply: readonly RedisReply[],
): Revision {
  const [verdict, detail] = reply;
  switch (verdict) {
    case "saved":
      return String(detail);
    case "lease":
      throw leaseLost(slot);
    case "conflict":
      throw stateConflict(slot, write.expected, typeof detail === "string" ? detail : null);
    case "misfit":
      checkWrite(write, Number(detail), slot);
      throw corruptState(slot, `it refused a save that fits its ${detail} messages`);
    default:
      throw corruptState(slot, String(detail));
  }
}
