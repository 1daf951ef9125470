import { isNumber, isText, listOf, verdict } from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";
import { gateLua } from "../gate/gate-lua.js";

/**
 * Registers a listener outside the gate, or keeps it registered; returns the signals to it. Ended by `leaveScript`.
 *
 * KEYS `gateKeys`. ARGV: token, call, node, leaseMs.
 */
export const listenScript: Script = defineScript(
  "listen",
  true,
  `${gateLua}
write_entry('l:' .. ARGV[1], now_ms(), tonumber(ARGV[4]), '1', ARGV[3], ARGV[2])
return signals_to(ARGV[1])
`,
  listOf(isText),
);

/**
 * Leaves a signal for every listener of a call, and tells their nodes; returns `sent` and their number.
 *
 * KEYS `gateKeys`. ARGV: call, id, text.
 */
export const sendScript: Script = defineScript(
  "send",
  true,
  `${gateLua}
local call, id, text = ARGV[1], ARGV[2], ARGV[3]
local now = now_ms()
local found = 0

local function tell(token, node, for_ms)
  found = found + 1
  -- A call that did not stop after so many will not after one more; what is kept must not grow without bound.
  if #signal_fields(token) < 100 then redis.call('HSET', CALLS, 's:' .. token .. ':' .. id, text) end
  keep_at_least(CALLS, for_ms)
  redis.call('PUBLISH', node, 'signal\\n' .. token .. '\\n' .. id .. '\\n' .. text)
end

for _, field in ipairs(redis.call('HKEYS', CALLS)) do
  if string.sub(field, 1, 2) ~= 's:' then
    local till, listens, node, entry_call = read_entry(field, now)
    if till and listens == '1' and entry_call == call then
      tell(string.sub(field, 3), node, till - now)
    end
  end
end
local holder = redis.call('HMGET', LEASE, 'token', 'call', 'node', 'listens')
if holder[2] == call and holder[4] == '1' then tell(holder[1], holder[3], redis.call('PTTL', LEASE)) end
return {'sent', found}
`,
  verdict("sent", isNumber),
);
