import { either, isNumber, isText, listOf, verdict } from "../connection/reply-shape.js";
import type { Script } from "../connection/script.js";
import { inboxLua } from "../inbox/inbox-lua.js";
import { defineSlotScript } from "../slot-script.js";
import { loadReply, stateLua } from "../state/stored-state.js";
import { gateLua } from "./gate-lua.js";
import { refreshLua } from "./refresh-lua.js";

/**
 * Takes the lease or a place in the queue; with the lease it puts an entry into the inbox and loads state and inbox.
 *
 * KEYS `loadKeys`. ARGV: token, call, node, one text of listens, leaseMs, renewed, mode, maxQueue and ttlMs, slot (empty: neither
 * state nor inbox), known, the arguments of `put_entry` (an empty id: no entry), and, if the claim just before is dead, the token
 * and version that `claim_before` had.
 *
 * Returns `granted` with signals, the loaded state and the inbox, `wait` with signals, the number ahead, when to ask again and
 * `claim_before`, `busy` with the number that wait and `claim_before`, or `full` when the inbox has no room for the entry.
 */
export const enterScript: Script = defineSlotScript(
  "enter",
  true,
  `${gateLua}${refreshLua}${stateLua}${inboxLua}
local token, call, node, slot, id = ARGV[1], ARGV[2], ARGV[3], ARGV[5], ARGV[7]
local listens, lease_ms, renewed, mode, max_queue, ttl_ms =
  string.match(ARGV[4], '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
lease_ms, max_queue, ttl_ms = tonumber(lease_ms), tonumber(max_queue), tonumber(ttl_ms)
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
-- One that is not in the queue would join at its end.
local own_place = ARGV[10]
  and (redis.call('LPOS', QUEUE, token) or (mode ~= 'again' and redis.call('LLEN', QUEUE)))
if own_place then
  local before, version = claim_before(own_place)
  if before == ARGV[10] and version == ARGV[11] then replace_before(own_place, now or now_ms()) end
end
local holder = redis.call('HGET', LEASE, 'token')
local first = crowded and first_waiting(now)
if holder == token or (not holder and (not first or first == token)) then
  local inbox = {}
  if slot ~= '' then
    if id == '' or is_gone(STATE, id) then inbox = read_entries(INBOX)
    else inbox = put_entry(INBOX, id, ARGV[8], ARGV[9]) end
    if not inbox then return {'full'} end
  end
  take_lease(token, lease_ms, listens, node, call, renewed)
  refresh(ttl_ms, 4)
  local signals = {}
  if crowded then
    redis.call('LREM', QUEUE, 0, token)
    redis.call('HDEL', CALLS, 'w:' .. token)
    keep_at_least(CALLS, lease_ms)
    signals = signals_to(token)
  end
  local loaded = slot == '' and {'none'} or load_state(slot, ARGV[6], 0)
  return {'granted', signals, loaded, inbox}
end
now = now or now_ms()

local place = redis.call('LPOS', QUEUE, token)
if not place then
  local waiting = redis.call('LLEN', QUEUE)
  if mode == 'refuse' or (mode == 'queue' and waiting >= max_queue) then
    return {'busy', waiting, claim_before(waiting)}
  end
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
return {'wait', signals_to(token), place + (holder and 1 or 0), due, claim_before(place)}
`,
  either(
    verdict("granted", listOf(isText), either(loadReply, verdict("none")), listOf(isText)),
    verdict("wait", listOf(isText), isNumber, isNumber, isText, isText),
    verdict("busy", isNumber, isText, isText),
    verdict("full"),
  ),
);
