import { REMEMBERED_OPS } from "@holdfast/core/store-kit";
import { defineScript, type Script } from "../connection/script.js";
import { lineLua } from "../gate/line-lua.js";
import { appendLogLua } from "../log/append-log.js";
import { stateLua } from "./state-lua.js";

/**
 * Loads a state. KEYS `slotKeys`. ARGV: slot, known, ttlMs.
 *
 * It writes nothing but expiry times, so one whose answer is lost has no outcome to be in doubt about.
 */
export const loadScript: Script = defineScript(
  "load",
  false,
  `${stateLua}\nreturn load_state(ARGV[1], ARGV[2], tonumber(ARGV[3]))\n`,
);

/** Deletes a state, whatever its condition. KEYS: state, messages. */
export const deleteScript: Script = defineScript(
  "delete",
  true,
  `return redis.call('UNLINK', KEYS[1], KEYS[2])`,
);

/** The places of the ring in which the last saves are remembered. */
const opFields = Array.from({ length: REMEMBERED_OPS }, (_, place) => `, 'o${place}'`).join("");

/**
 * One save: state, log records and the lease given back, together or not at all. Up to the first write anything may be
 * refused; from there on nothing can fail.
 *
 * KEYS `slotKeys`. ARGV: slot, op as JSON, expected (`r<revision>`, or empty for none), revision, lease (`t<token>`, or empty
 * for none), whether to release it, keep, head, ttlMs, the time, number of replacements and of each its index and text, number of
 * appended messages and their texts, and what `append_log` reads.
 *
 * Answers `saved` and the revision, `lease`, `conflict` and the stored revision, `corrupt` and why, or `misfit` and the
 * number of messages stored.
 */
export const saveScript: Script = defineScript(
  "save",
  true,
  `${lineLua}${stateLua}${appendLogLua}
local slot, op, expected, rev = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local token, releases = string.sub(ARGV[5], 2), ARGV[6] == '1'
local keep, head, ttl_ms, at_ms = tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9]), ARGV[10]

local function holds_lease()
  return redis.call('HGET', LEASE, 'token') == token
end

local stored = redis.call('HMGET', STATE, 'slot', 'rev', 'n', 'ttl'${opFields})
local stored_rev = stored[2]
local done = op .. '\\t'
for at = 5, #stored do
  if stored[at] and string.sub(stored[at], 1, #done) == done then
    -- Its holder may have taken the lease again meanwhile, not knowing that it was given back.
    if releases and holds_lease() then leave(token) end
    return {'saved', string.sub(stored[at], #done + 1)}
  end
end
if ARGV[5] ~= '' and not holds_lease() then return {'lease'} end
if expected ~= (stored_rev and 'r' .. stored_rev or '') then return {'conflict', stored_rev} end
local problem = damage(slot, stored[1], stored_rev, stored[3])
if problem then return {'corrupt', problem} end
local count = tonumber(stored[3] or 0)
if keep > count then return {'misfit', count} end

if keep == 0 then redis.call('DEL', MESSAGES)
elseif keep < count then redis.call('LTRIM', MESSAGES, 0, keep - 1) end
local at = 12
for _ = 1, tonumber(ARGV[11]) do
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
redis.call('HSET', STATE, 'rev', rev, 'n', keep + appended, 'head', head, 'at', at_ms, place, done .. rev)
if stored[1] ~= slot or stored[4] ~= ARGV[9] then redis.call('HSET', STATE, 'slot', slot, 'ttl', ARGV[9]) end
append_log(KEYS[6], KEYS[7], at, messages_at)
if ttl_ms > 0 then
  for key = 4, #KEYS do redis.call('PEXPIRE', KEYS[key], ttl_ms) end
elseif stored[4] ~= '0' then
  -- What is there may have been stored when there was a ttlMs.
  for key = 4, #KEYS do redis.call('PERSIST', KEYS[key]) end
end
if releases and ARGV[5] ~= '' then leave(token) end
return {'saved', rev}
`,
);
