import { MAX_INBOX_BYTES, MAX_INBOX_ENTRIES } from "@holdfast/core/store-kit";

/** Ids of removed entries that a state remembers. */
const MAX_GONE = 8;

/**
 * Lua functions over the inbox of a slot: a list, oldest first, of `<id as JSON>\t<kind>\t<entry as JSON>`.
 *
 * The field `gone` of the state is the ids of the entries removed last, each with a line feed: a copy of a claim that put one
 * may arrive late, after a new connection repeated it, and must not bring the entry back.
 */
export const inboxLua: string = `
-- Id, kind and JSON of a stored entry: JSON texts contain no raw tab, so the first ones end id and kind.
local function split_entry(text)
  return string.match(text, '^([^\\t]*)\\t([^\\t]*)\\t(.*)$')
end

-- JSON of each entry, oldest first; empty for the one with this id, which its caller has.
local function read_entries(key, own_id)
  local found = redis.call('LRANGE', key, 0, -1)
  for at, text in ipairs(found) do
    local id, _, json = split_entry(text)
    found[at] = id == own_id and '' or json or text
  end
  return found
end

-- True for the entry of a claim that has ended.
local function is_gone(state_key, id)
  local gone = redis.call('HGET', state_key, 'gone')
  return gone and string.find('\\n' .. gone, '\\n' .. id .. '\\n', 1, true)
end

-- Puts an entry behind the others, unless one with its id is there, and returns them all as read_entries does; nil when there
-- is no room for it.
local function put_entry(key, id, kind, json)
  local found = read_entries(key, id)
  local bytes = #json
  for _, other in ipairs(found) do
    if other == '' then return found end
    bytes = bytes + #other
  end
  if #found >= ${MAX_INBOX_ENTRIES} or bytes > ${MAX_INBOX_BYTES} then return nil end
  redis.call('RPUSH', key, id .. '\\t' .. kind .. '\\t' .. json)
  found[#found + 1] = ''
  return found
end

-- Removes the entries whose ids are ARGV[first] to ARGV[last].
local function remove_entries(key, state_key, first, last)
  local leaving, state = {}, redis.call('HMGET', state_key, 'rev', 'gone')
  local gone = state[2] or ''
  for at = first, last do
    leaving[ARGV[at]] = true
    gone = gone .. ARGV[at] .. '\\n'
  end
  local _, count = string.gsub(gone, '\\n', '')
  for _ = ${MAX_GONE + 1}, count do gone = string.match(gone, '\\n(.*)$') end
  if state[1] then redis.call('HSET', state_key, 'gone', gone) end
  for _, text in ipairs(redis.call('LRANGE', key, 0, -1)) do
    if leaving[split_entry(text)] then redis.call('LREM', key, 1, text) end
  end
end

-- JSON of the entry with this id; nil when it is not there, or is not of this length.
local function entry_json(key, id, length)
  for _, text in ipairs(redis.call('LRANGE', key, 0, -1)) do
    local own_id, _, json = split_entry(text)
    if own_id == id and #json == length then return json end
  end
end

local function has_input(key)
  for _, text in ipairs(redis.call('LRANGE', key, 0, -1)) do
    local _, kind = split_entry(text)
    if kind == 'input' then return 1 end
  end
  return 0
end
`;
