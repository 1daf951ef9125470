import { defineScript, type Script } from "../connection/script.js";
import { stateLua } from "../state/stored-state.js";
import { lineLua } from "./line-lua.js";

/**
 * Takes the lease or a place in line, and with the lease loads the state.
 *
 * KEYS `slotKeys`. ARGV: token, call, node, listens, leaseMs, mode (`queue`, `refuse` to wait, `again` for who waits
 * already), maxQueue, slot (empty: do not load), known, ttlMs.
 *
 * Answers `granted` with signals and the loaded state, `wait` with signals, the number ahead and when to look again, or
 * `busy` with the number that wait.
 */
export const acquireScript: Script = defineScript(
  "acquire",
  true,
  `${lineLua}${stateLua}
local token, call, node, listens = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lease_ms, mode, max_queue = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local crowded = is_crowded()
local now = crowded and now_ms()

-- Whoever comes new cleans up: what does not count any more must not count against maxQueue, nor pile up.
local function sweep()
  local counts = {}
  local holder = redis.call('HGET', LEASE, 'token')
  if holder then counts[holder] = true end
  local fields = redis.call('HKEYS', CALLS)
  for _, field in ipairs(fields) do
    if string.sub(field, 1, 2) ~= 's:' then
      if read_entry(field, now) then counts[string.sub(field, 3)] = true
      else redis.call('HDEL', CALLS, field) end
    end
  end
  for _, field in ipairs(fields) do
    local addressee = string.match(field, '^s:([^:]*):')
    if addressee and not counts[addressee] then redis.call('HDEL', CALLS, field) end
  end
  for _, waiting in ipairs(redis.call('LRANGE', QUEUE, 0, -1)) do
    if not counts[waiting] then redis.call('LREM', QUEUE, 0, waiting) end
  end
end

if crowded and mode ~= 'again' then sweep() end
local holder = redis.call('HGET', LEASE, 'token')
local first = crowded and first_waiting(now)
if holder == token or (not holder and (not first or first == token)) then
  take_lease(token, lease_ms, listens, node, call)
  local signals = {}
  if crowded then
    redis.call('LREM', QUEUE, 0, token)
    redis.call('HDEL', CALLS, 'w:' .. token)
    keep_at_least(CALLS, lease_ms)
    signals = signals_to(token)
  end
  local loaded = ARGV[8] == '' and {'none'} or load_state(ARGV[8], ARGV[9], tonumber(ARGV[10]))
  return {'granted', signals, loaded}
end
now = now or now_ms()

local place = redis.call('LPOS', QUEUE, token)
if not place then
  local waiting = redis.call('LLEN', QUEUE)
  if mode == 'refuse' or (mode == 'queue' and waiting >= max_queue) then return {'busy', waiting} end
  redis.call('RPUSH', QUEUE, token)
  place = waiting
end
write_entry('w:' .. token, now, lease_ms, listens, node, call)
keep_at_least(QUEUE, lease_ms)

-- The next to look at is whoever stands just before: its lease may run out, or its signs of life.
local due
if place == 0 then due = redis.call('PTTL', LEASE)
else
  local before = redis.call('LINDEX', QUEUE, place - 1)
  due = (read_entry('w:' .. before, now) or now) - now
end
return {'wait', signals_to(token), place + (holder and 1 or 0), due}
`,
);
