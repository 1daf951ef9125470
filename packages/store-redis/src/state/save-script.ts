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
import type { Script } from "../connection/script.js";
import { gateLua } from "../gate/gate-lua.js";
import { refreshLua } from "../gate/refresh-lua.js";
import { inboxLua } from "../inbox/inbox-lua.js";
import { appendLogLua } from "../log/append-log.js";
import { defineSlotScript } from "../slot-script.js";
import { corruptState, storedStateLua } from "./stored-state.js";

/** Form of revisions made with `nextRevision`. */
export const REVISION: RegExp = /^\d+\.[0-9a-f]+$/;

/** Fields of the ring buffer that remembers the last saves. */
const opFields = Array.from({ length: REMEMBERED_OPS }, (_, place) => `, 'o${place}'`).join("");

/**
 * Saves state and log records, takes entries out of the inbox and releases the lease, atomically. Every check comes before the
 * first write; after that nothing can fail.
 *
 * KEYS `saveKeys`. ARGV: slot (or empty with `expected`, which no other slot has), op as JSON, expected (`r<revision>`, or empty
 * for none), revision, lease (`t<token>`, or empty for none), the numbers that `saveArgs` joins, head (or empty for that of
 * `expected`), info (or empty for that of the save before), call record (`<number to keep>\t<callId as JSON>\t<record>`, or
 * empty for none), ids of the inbox entries to take as JSON, index and text of each replacement, the appended messages, each as
 * its text or its place in an entry to take, and the arguments of `append_log`.
 *
 * Returns `saved`, the revision and the wait that the save has ended or replaced, if any, `lease`, `conflict` and the stored
 * revision, `corrupt` and why, `misfit` and the number of messages stored, or `more` when it needs all
 * keys, the head and the texts.
 */
export const saveScript: Script = defineSlotScript(
  "save",
  true,
  `${gateLua}${refreshLua}${storedStateLua}${inboxLua}${appendLogLua}
local slot, op, expected, rev = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local token, head, info, record = string.sub(ARGV[5], 2), ARGV[7], ARGV[8], ARGV[9]
local releases, keep, ttl, at_ms, waits, taken, replacing, appended =
  string.match(ARGV[6], '^(%d) (%d+) (%d+) (%d+) (%d) (%d+) (%d+) (%d+)$')
releases, keep, taken, appended = releases == '1', tonumber(keep), tonumber(taken), tonumber(appended)

local stored = redis.call('HMGET', STATE, 'slot', 'rev', 'n', 'ttl', 'wait', 'change', 'refs'${opFields})
local stored_rev = stored[2]
local done = op .. '\\t'
for at = 8, #stored do
  if stored[at] and string.sub(stored[at], 1, #done) == done then
    -- Its holder may have taken the lease again meanwhile, not knowing that it was released.
    if releases and holds_lease(token) then leave(token) end
    return {'saved', string.sub(stored[at], #done + 1), false}
  end
end
if ARGV[5] ~= '' and not holds_lease(token) then return {'lease'} end
if expected ~= (stored_rev and 'r' .. stored_rev or '') then return {'conflict', stored_rev} end
if slot == '' then slot = stored[1] end
local problem = damage(slot, stored[1], stored_rev, stored[3], stored[7])
if problem then return {'corrupt', problem} end
local count = tonumber(stored[3] or 0)
if keep > count then return {'misfit', count} end
-- The keys may have been stored with a ttlMs.
local persists = ttl == '0' and stored[4] ~= '0'
if persists and not BLOBS then return {'more'} end
local last_seq, start = read_refs(stored[7], stored_rev)
if start and start ~= log_start() then return {'corrupt', NO_LOG} end
if head == '' and redis.call('HEXISTS', STATE, last_seq and 'doc' or 'head') == 0 then return {'more'} end
local texts, texts_at, jsons = {}, 10 + taken + 2 * replacing, {}
for at = texts_at, texts_at + appended - 1 do
  local text = ARGV[at]
  local entry, length, start, size = string.match(text, '^(%d+) (%d+) (%d+) (%d+)$')
  if entry then
    jsons[entry] = jsons[entry] or entry_json(INBOX, ARGV[10 + entry], tonumber(length))
    if not jsons[entry] then return {'more'} end
    text = string.sub(jsons[entry], start + 1, start + size)
  end
  texts[#texts + 1] = text
end

if keep == 0 then redis.call('DEL', MESSAGES)
elseif keep < count then redis.call('LTRIM', MESSAGES, 0, keep - 1) end
local replaced = {}
for at = 10 + taken, texts_at - 1, 2 do
  redis.call('LSET', MESSAGES, ARGV[at], ARGV[at + 1])
  replaced[#replaced + 1] = ARGV[at]
end
local had_refs = last_seq
for index, seq in pairs(append_log(texts_at + appended, texts, last_seq)) do
  texts[index + 1] = '{"seq": ' .. seq .. '}'
  last_seq = math.max(last_seq or 0, seq)
end
-- In batches: the arguments of a Lua call are limited.
for first = 1, appended, 1000 do
  redis.call('RPUSH', MESSAGES, unpack(texts, first, math.min(first + 999, appended)))
end

local place = 'o' .. tonumber(string.match(rev, '^%d+')) % ${REMEMBERED_OPS}
local fields = {'rev', rev, 'n', keep + appended, 'at', at_ms, place, done .. rev}
local function set(field, value)
  fields[#fields + 1] = field
  fields[#fields + 1] = value
end
if last_seq then
  if not had_refs then
    if head == '' then head = redis.call('HGET', STATE, 'head') end
    set('head', REFUSED_HEAD)
  end
  if head ~= '' then set('doc', head) end
  set('refs', rev .. '\\t' .. last_seq .. '\\t' .. (start or log_start()))
elseif head ~= '' then set('head', head) end
if info ~= '' then set('info', info) end
if stored_rev then
  local change = {from = stored_rev, to = rev, keep = keep, replaced = table.concat(replaced, ',')}
  note_change(set, stored[6], change, token)
end
if waits == '1' then set('wait', op) end
if stored[1] ~= slot or stored[4] ~= ttl then
  set('slot', slot)
  set('ttl', ttl)
end
redis.call('HSET', STATE, unpack(fields))
local ended = info ~= '' and stored[5]
if ended and waits ~= '1' then redis.call('HDEL', STATE, 'wait') end
if taken > 0 then remove_entries(INBOX, STATE, 10, 9 + taken) end
-- Without a state they belong to one that was deleted by a release that does not know them.
if not stored_rev then redis.call('DEL', RECORDS) end
if record ~= '' then
  local kept, start, text = string.match(record, '^(%d+)\t([^\t]*\t)(.*)$')
  local newest = redis.call('LINDEX', RECORDS, 0)
  if newest and string.sub(newest, 1, #start) == start then redis.call('LPOP', RECORDS) end
  kept = tonumber(kept)
  if kept < 1 then redis.call('DEL', RECORDS)
  elseif redis.call('LPUSH', RECORDS, start .. text) > kept then redis.call('LTRIM', RECORDS, 0, kept - 1) end
end
if releases and ARGV[5] ~= '' then leave(token) end
refresh(tonumber(ttl), 4)
if persists then
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
    verdict("more"),
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
