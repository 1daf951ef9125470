import { either, isNull, isNumber, isText, listOf, textIn } from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";

/**
 * Heads of feeds: fields of one hash per slot, by call id. The field without a name counts the feeds that have begun.
 *
 * `read_head` returns nil for a feed that has expired.
 */
const headLua = `
local function now_ms()
  local now = redis.call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end
local function whole(number) return string.format('%.0f', number) end
local function parse(text)
  local first, last, ended, size, order, expires, run = string.match(text, '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
  return {first = tonumber(first), last = tonumber(last), ended = ended == '1', size = tonumber(size),
    order = tonumber(order), expires = tonumber(expires), run = run}
end
local function read_head(call, now)
  local text = redis.call('HGET', KEYS[1], call)
  if not text then return nil end
  local head = parse(text)
  return head.expires > now and head or nil
end
local function live_heads(now)
  local all, live, dead = redis.call('HGETALL', KEYS[1]), {}, {}
  for at = 1, #all, 2 do
    if all[at] ~= '' then
      local head = parse(all[at + 1])
      head.call = all[at]
      table.insert(head.expires > now and live or dead, head)
    end
  end
  return live, dead
end
`;

/**
 * Appends a batch. KEYS: heads, batches. ARGV: call, run, first or '' to take the feed over, count, 1 when it ends the call, body,
 * keepMs, openMs, maxChars, channel. Returns the number of the first event, or nil.
 */
export const appendScript: Script = defineScript(
  "append-events",
  true,
  `${headLua}
local call, run, asked, count, body = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[6]
local now = now_ms()
local head = read_head(call, now)
local own = head and head.run == run
if asked == '' and own then return head.first end
if asked ~= '' and head and not own then return false end
local first = tonumber(asked) or (head and head.last + 1 or 0)
if own and first <= head.last then return first end
if not head then
  redis.call('UNLINK', KEYS[2])
  local _, dead = live_heads(now)
  for _, one in ipairs(dead) do redis.call('HDEL', KEYS[1], one.call) end
  head = {size = 0, order = redis.call('HINCRBY', KEYS[1], '', 1)}
end
local size = head.size + #body
redis.call('XADD', KEYS[2], whole(first + count) .. '-0', 'f', first, 'c', count, 'r', run, 'b', body)
while size > tonumber(ARGV[9]) and redis.call('XLEN', KEYS[2]) > 1 do
  local oldest = redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)[1]
  redis.call('XDEL', KEYS[2], oldest[1])
  size = size - #oldest[2][8]
end
local keep_ms = tonumber(ARGV[5] == '1' and ARGV[7] or ARGV[8])
local text = {whole(own and head.first or first), whole(first + count - 1), ARGV[5], whole(size), whole(head.order), whole(now + keep_ms), run}
redis.call('HSET', KEYS[1], call, table.concat(text, ' '))
redis.call('PEXPIRE', KEYS[2], keep_ms)
if redis.call('PTTL', KEYS[1]) < keep_ms then redis.call('PEXPIRE', KEYS[1], keep_ms) end
redis.call('PUBLISH', ARGV[10], '')
return first
`,
  either(isNumber, isNull),
);

/**
 * Reads batches. KEYS: heads, batches. ARGV: call, number of the last event that is known, characters of a page. Returns run, last
 * and 1 when the call has ended, then first, count, run and body of each batch; or nil.
 */
export const readScript: Script = defineScript(
  "read-events",
  false,
  `${headLua}
local head = read_head(ARGV[1], now_ms())
if not head then return false end
local found = {head.run, whole(head.last), head.ended and '1' or '0'}
local size = 0
for _, entry in ipairs(redis.call('XRANGE', KEYS[2], whole(ARGV[2] + 2) .. '-0', '+', 'COUNT', 100)) do
  local batch = entry[2]
  size = size + #batch[8]
  if size > tonumber(ARGV[3]) and #found > 3 then break end
  for at = 2, 8, 2 do table.insert(found, batch[at]) end
end
return found
`,
  either(listOf(isText), isNull),
);

/** Returns the calls whose feeds have not ended, in the order in which they began. KEYS: heads. */
export const openScript: Script = defineScript(
  "open-feeds",
  false,
  `${headLua}
local live, open = live_heads(now_ms()), {}
table.sort(live, function(a, b) return a.order < b.order end)
for _, head in ipairs(live) do
  if not head.ended then table.insert(open, head.call) end
end
return open
`,
  listOf(isText),
);

/** Deletes feeds. KEYS: heads, then the batches of each. */
export const deleteScript: Script = defineScript(
  "delete-feeds",
  true,
  `redis.call('UNLINK', unpack(KEYS))\nreturn 'deleted'`,
  textIn("deleted"),
);
