import { either, isNumber, isText, listOf, verdict } from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";
import { inboxLua } from "../inbox/inbox-lua.js";
import { loadReply, stateLua } from "../state/stored-state.js";
import { gateLua } from "./gate-lua.js";
import { refreshLua } from "./refresh-lua.js";

/**
 * Takes the lease or a place in the queue; with the lease it puts an entry into the inbox and loads state and inbox.
 *
 * KEYS `slotKeys`. ARGV: token, call, node, listens, leaseMs, mode, maxQueue, slot (empty: neither state nor inbox), known,
 * ttlMs, and the arguments of `put_entry` (an empty id: no entry).
 *
 * Returns `granted` with signals, the loaded state and the inbox, `wait` with signals, the number ahead and when to ask again,
 * `busy` with the number that wait, or `full` when the inbox has no room for the entry.
 */
export const enterScript: Script = defineScript(
  "enter",
  true,
  `${gateLua}${refreshLua}${stateLua}${inboxLua}
local token, call, node, listens = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local lease_ms, mode, max_queue = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local slot, ttl_ms, id = ARGV[8], tonumber(ARGV[10]), ARGV[11]
local crowded = is_crowded()
local now = crowded and now_ms()

-- A newcomer cleans up: what does not count any more must not count against maxQueue, nor pile up.
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
  local inbox = {}
  if slot ~= '' then
    if id == '' or is_gone(STATE, id) then inbox = read_entries(KEYS[9])
    else inbox = put_entry(KEYS[9], id, ARGV[12], ARGV[13]) end
    if not inbox then return {'full'} end
  end
  take_lease(token, lease_ms, listens, node, call)
  refresh(ttl_ms, 4)
  local signals = {}
  if crowded then
    redis.call('LREM', QUEUE, 0, token)
    redis.call('HDEL', CALLS, 'w:' .. token)
    keep_at_least(CALLS, lease_ms)
    signals = signals_to(token)
  end
  local loaded = slot == '' and {'none'} or load_state(slot, ARGV[9], 0)
  return {'granted', signals, loaded, inbox}
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
refresh(ttl_ms, 4)

-- Worth asking again when the claim just before may be gone: when its lease or its place runs out.
local due
if place == 0 then due = redis.call('PTTL', LEASE)
else
  local before = redis.call('LINDEX', QUEUE, place - 1)
  due = (read_entry('w:' .. before, now) or now) - now
end
return {'wait', signals_to(token), place + (holder and 1 or 0), due}
`,
  either(
    verdict("granted", listOf(isText), either(loadReply, verdict("none")), listOf(isText)),
    verdict("wait", listOf(isText), isNumber, isNumber),
    verdict("busy", isNumber),
    verdict("full"),
  ),
);
