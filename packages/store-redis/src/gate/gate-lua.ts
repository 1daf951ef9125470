/**
 * Lua functions over the gate of a slot: its holder, its queue, its listeners, and the signals to each of them.
 *
 * - `lease`: a hash `token`, `call`, `node`, `listens`, `renewed`; expires by itself. `renewed` is another text after each renewal.
 * - `queue`: the tokens that wait, in order.
 * - `calls`: a hash. `w:<token>` is a waiter and `l:<token>` a listener outside the gate, each as
 *   `<until>\n<listens>\n<node>\n<call>`; `s:<token>:<id>` is a signal to one of them or to the holder. `d:<token>` is a holder
 *   that was replaced, in the form of a waiter, until its lease would have run out.
 *
 * `until` is in the server's time. A waiter or listener not heard of until then counts no more, and once that is true of all
 * the keys expire as well. `node` is the channel of the process; it gets `wake\n<token>` when a turn comes, and
 * `signal\n<token>\n<id>\n<text>`.
 */
export const gateLua: string = `
local LEASE, QUEUE, CALLS = KEYS[1], KEYS[2], KEYS[3]

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- True when there are waiters, listeners or signals: mostly not, and then a turn costs a few commands only.
local function is_crowded()
  return redis.call('EXISTS', QUEUE, CALLS) > 0
end

local function keep_at_least(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
end

local function holds_lease(token)
  return redis.call('HGET', LEASE, 'token') == token
end

-- Concatenation, as string.format cuts a text at a zero byte.
local function write_entry(field, now, lease_ms, listens, node, call)
  local till = string.format('%.0f', now + lease_ms)
  redis.call('HSET', CALLS, field, till .. '\\n' .. listens .. '\\n' .. node .. '\\n' .. call)
  keep_at_least(CALLS, lease_ms)
end

-- Time until which it counts, 1 if it listens, its node and its call; nothing once it does not count.
local function read_entry(field, now)
  local text = redis.call('HGET', CALLS, field)
  if not text then return nil end
  local till, listens, node, call = string.match(text, '^(%d+)\\n(%d)\\n([^\\n]*)\\n(.*)$')
  if not till or tonumber(till) <= now then return nil end
  return tonumber(till), listens, node, call
end

local function signal_fields(token)
  local prefix, fields = 's:' .. token .. ':', {}
  for _, field in ipairs(redis.call('HKEYS', CALLS)) do
    if string.sub(field, 1, #prefix) == prefix then fields[#fields + 1] = field end
  end
  return fields
end

-- Id and text of each, in any order.
local function signals_to(token)
  local found = {}
  for _, field in ipairs(signal_fields(token)) do
    found[#found + 1] = string.sub(field, #token + 4)
    found[#found + 1] = redis.call('HGET', CALLS, field)
  end
  return found
end

-- Token and version of the claim before a place in the queue: the holder's for the first.
local function claim_before(place)
  if place == 0 then
    local holder = redis.call('HMGET', LEASE, 'token', 'renewed')
    return holder[1] or '', holder[2] or ''
  end
  local token = redis.call('LINDEX', QUEUE, place - 1)
  return token, string.match(redis.call('HGET', CALLS, 'w:' .. token) or '', '^%d*')
end

local function forget(token)
  redis.call('HDEL', CALLS, 'w:' .. token, 'l:' .. token)
  for _, field in ipairs(signal_fields(token)) do redis.call('HDEL', CALLS, field) end
end

-- The first waiter that counts, and its node; those before it are dropped.
local function first_waiting(now)
  while true do
    local token = redis.call('LINDEX', QUEUE, 0)
    if not token then return nil end
    local till, _, node = read_entry('w:' .. token, now)
    if till then return token, node end
    redis.call('LPOP', QUEUE)
    forget(token)
  end
end

-- Takes the place of the claim before one's own from a process that is dead.
local function replace_before(place, now)
  local dead = claim_before(place)
  forget(dead)
  if place > 0 then
    redis.call('LREM', QUEUE, 0, dead)
    return
  end
  -- Should it live after all, it must learn of this also when the slot is free again.
  write_entry('d:' .. dead, now, redis.call('PTTL', LEASE), '0', '', '')
  redis.call('DEL', LEASE)
end

local function take_lease(token, lease_ms, listens, node, call, renewed)
  redis.call('HSET', LEASE, 'token', token, 'call', call, 'node', node, 'listens', listens, 'renewed', renewed)
  redis.call('PEXPIRE', LEASE, lease_ms)
end

-- Ends the lease, the place or the registration of a token, and wakes the first waiter when the slot is free.
local function leave(token)
  if holds_lease(token) then redis.call('DEL', LEASE) end
  if not is_crowded() then return end
  redis.call('LREM', QUEUE, 0, token)
  forget(token)
  if redis.call('EXISTS', LEASE) == 1 then return end
  local next_token, node = first_waiting(now_ms())
  if next_token then redis.call('PUBLISH', node, 'wake\\n' .. next_token) end
end
`;
