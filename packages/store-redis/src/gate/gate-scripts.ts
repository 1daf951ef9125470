import { either, isText, listOf, textIn, tuple, verdict } from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";
import { inboxLua } from "../inbox/inbox-lua.js";
import { defineSlotScript } from "../slot-script.js";
import { gateLua } from "./gate-lua.js";
import { refreshLua } from "./refresh-lua.js";

/**
 * Renews a lease, and with it the time for which everything stored of the slot is kept: a call may run longer than `ttlMs`.
 *
 * KEYS `slotKeys`. ARGV: token, call, node, and one text of listens, leaseMs, renewed and ttlMs.
 *
 * Returns `kept` with the signals to the holder, or `lost`. A lease that is gone although no other call wants the slot and none
 * has replaced it was forgotten by a failover and is taken again: had it run out, its holder would not ask any more.
 */
export const renewScript: Script = defineSlotScript(
  "renew",
  true,
  `${gateLua}${refreshLua}
local token = ARGV[1]
local holder = redis.call('HGET', LEASE, 'token')
if holder and holder ~= token then return {'lost'} end
if not holder and (redis.call('HEXISTS', CALLS, 'd:' .. token) == 1 or first_waiting(now_ms())) then return {'lost'} end
local listens, lease_ms, renewed, ttl_ms = string.match(ARGV[4], '^(%S+) (%S+) (%S+) (%S+)$')
take_lease(token, tonumber(lease_ms), listens, ARGV[3], ARGV[2], renewed)
keep_at_least(CALLS, tonumber(lease_ms))
refresh(tonumber(ttl_ms), 4)
return {'kept', signals_to(token)}
`,
  either(verdict("kept", listOf(isText)), verdict("lost")),
);

/**
 * Gives back a lease, a place in the queue or a registration, whichever the token stands for; with the lease it also removes
 * entries of the inbox.
 *
 * KEYS `slotKeys`. ARGV: token, ttlMs, ids of entries as JSON.
 */
export const leaveScript: Script = defineSlotScript(
  "leave",
  true,
  `${gateLua}${refreshLua}${inboxLua}
local held = holds_lease(ARGV[1])
if #ARGV > 2 and held then remove_entries(INBOX, STATE, 3, #ARGV) end
leave(ARGV[1])
if held then refresh(tonumber(ARGV[2]), 4) end
return 'left'
`,
  textIn("left"),
);

/**
 * Returns call id, token and version of each claim on a slot: the holder's, then those that wait, in order. KEYS `gateKeys`.
 */
export const callsScript: Script = defineScript(
  "calls",
  false,
  `${gateLua}
local found = {}
local holder = redis.call('HGET', LEASE, 'call')
if holder then found[1] = {holder, claim_before(0)} end
local now = now_ms()
for place, token in ipairs(redis.call('LRANGE', QUEUE, 0, -1)) do
  local till, _, _, call = read_entry('w:' .. token, now)
  if till then found[#found + 1] = {call, claim_before(place)} end
end
return found
`,
  listOf(tuple(isText, isText, isText)),
);
