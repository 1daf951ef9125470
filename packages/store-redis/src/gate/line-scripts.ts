import { defineScript, type Script } from "../connection/script.js";
import { lineLua } from "./line-lua.js";

/**
 * A holder's sign of life. KEYS `lineKeys`. ARGV: token, call, node, listens, leaseMs.
 *
 * Answers `kept` with the signals to the holder, or `lost`. A lease that is gone although nobody else wants the slot was
 * forgotten by a failover and is taken again: had it run out, its holder would not ask any more.
 */
export const renewScript: Script = defineScript(
  "renew",
  true,
  `${lineLua}
local token = ARGV[1]
local holder = redis.call('HGET', LEASE, 'token')
if holder and holder ~= token then return {'lost'} end
if not holder and first_waiting(now_ms()) then return {'lost'} end
take_lease(token, tonumber(ARGV[5]), ARGV[4], ARGV[3], ARGV[2])
keep_at_least(CALLS, tonumber(ARGV[5]))
return {'kept', signals_to(token)}
`,
);

/** Gives back a lease, a place in line or a registration, whichever the token stands for. KEYS `lineKeys`. ARGV: token. */
export const leaveScript: Script = defineScript("leave", true, `${lineLua}\nleave(ARGV[1])\n`);

/** The ids of the calls on a slot: the holder's, then those that wait, in order. KEYS `lineKeys`. */
export const callsScript: Script = defineScript(
  "calls",
  false,
  `${lineLua}
local found = {redis.call('HGET', LEASE, 'call') or nil}
local now = now_ms()
for _, token in ipairs(redis.call('LRANGE', QUEUE, 0, -1)) do
  local till, _, _, call = read_entry('w:' .. token, now)
  if till then found[#found + 1] = call end
end
return found
`,
);
