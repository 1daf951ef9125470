/**
 * Lua functions over what is kept of a slot.
 *
 * - `state`: a hash. `slot` is the ids as JSON, `rev` the revision, `n` the number of messages, `head` its JSON, `ops` the
 *   last saves, each as `<op as JSON>\t<revision>\n`, `at` the server's time of the last save in milliseconds.
 * - `messages`: a list of JSON texts.
 */
export const stateLua: string = `
local STATE, MESSAGES = KEYS[4], KEYS[5]

-- Why what is stored cannot be what was saved; nothing when it can.
local function damage(slot)
  local stored = redis.call('HMGET', STATE, 'slot', 'rev', 'n')
  local count = redis.call('LLEN', MESSAGES)
  if redis.call('EXISTS', STATE) == 0 then
    return count > 0 and 'its messages are there without their head'
  end
  if not (stored[1] and stored[2] and stored[3]) or redis.call('HEXISTS', STATE, 'head') == 0 then
    return 'its head is not whole'
  end
  if stored[1] ~= slot then return 'it is that of another session' end
  if tonumber(stored[3]) ~= count then
    return stored[3] .. ' messages were saved and ' .. count .. ' are there'
  end
end

local function load_state(slot, known, ttl_ms)
  local problem = damage(slot)
  if problem then return {'corrupt', problem} end
  local rev = redis.call('HGET', STATE, 'rev')
  if not rev then return {'absent'} end
  if ttl_ms > 0 then
    -- A server that takes no writes just now can be read all the same.
    for at = 4, #KEYS do redis.pcall('PEXPIRE', KEYS[at], ttl_ms) end
  end
  if known == 'r' .. rev then return {'unchanged'} end
  return {'state', rev, redis.call('HGET', STATE, 'head'), redis.call('LRANGE', MESSAGES, 0, -1)}
end
`;
