import { REMEMBERED_OPS } from "@holdfast/core";
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

/**
 * One save: state, log records and the lease given back, together or not at all. Up to the first write anything may be
 * refused; from there on nothing can fail.
 *
 * KEYS `slotKeys`. ARGV: slot, op as JSON, expected (`r<revision>`, or empty for none), revision, lease (`t<token>`, or empty
 * for none), whether to release it, keep, head, ttlMs, number of replacements and of each its index and text, number of
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
local keep, head, ttl_ms = tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9])

local function holds_lease()
  return redis.call('HGET', LEASE, 'token') == token
end

local stored = redis.call('HMGET', STATE, 'rev', 'ops', 'n')
local ops = stored[2] or ''
-- With a line break before it, as an op may end like another.
local _, op_end = string.find('\\n' .. ops, '\\n' .. op .. '\\t', 1, true)
if op_end then
  -- Its holder may have taken the lease again meanwhile, not knowing that it was given back.
  if releases and holds_lease() then leave(token) end
  return {'saved', string.match(ops, '^[^\\n]*', op_end)}
end
if ARGV[5] ~= '' and not holds_lease() then return {'lease'} end
if expected ~= (stored[1] and 'r' .. stored[1] or '') then return {'conflict', stored[1]} end
local problem = damage(slot)
if problem then return {'corrupt', problem} end
local count = tonumber(stored[3] or 0)
if keep > count then return {'misfit', count} end

if keep == 0 then redis.call('DEL', MESSAGES)
elseif keep < count then redis.call('LTRIM', MESSAGES, 0, keep - 1) end
local at = 11
for _ = 1, tonumber(ARGV[10]) do
  redis.call('LSET', MESSAGES, ARGV[at], ARGV[at + 1])
  at = at + 2
end
local appended = tonumber(ARGV[at])
-- In batches: the arguments of a Lua call are limited.
for first = at + 1, at + appended, 1000 do
  redis.call('RPUSH', MESSAGES, unpack(ARGV, first, math.min(first + 999, at + appended)))
end
at = at + appended + 1

local _, remembered = string.gsub(ops, '\\n', '')
if remembered >= ${REMEMBERED_OPS} then ops = string.match(ops, '\\n(.*)$') end
redis.call('HSET', STATE, 'slot', slot, 'rev', rev, 'n', keep + appended, 'head', head,
  'ops', ops .. op .. '\\t' .. rev .. '\\n', 'at', string.format('%.0f', now_ms()))
append_log(KEYS[6], KEYS[7], at)
for key = 4, #KEYS do
  if ttl_ms > 0 then redis.call('PEXPIRE', KEYS[key], ttl_ms) else redis.call('PERSIST', KEYS[key]) end
end
if releases and ARGV[5] ~= '' then leave(token) end
return {'saved', rev}
`,
);
