import { MESSAGE_ALONE } from "../log/append-log.js";

/**
 * Head that releases without references find in place of the head of a state that has some: they refuse it as too new, before
 * they look at its messages. No schema of `@holdfast/core` gets there.
 */
const REFUSED_HEAD = JSON.stringify({
  format: "holdfast.state",
  schemaVersion: 1_000_000,
  minReader: 1_000_000,
});

/** Bytes of the first record by which a log is recognised: they hold its id. */
const LOG_START_BYTES = 64;
/** Records between two that are wanted, which are cheaper to read than a second command. */
const MAX_GAP = 4;
const MAX_RECORDS = 200;

/**
 * Lua functions over references to the log, for scripts of `defineSlotScript`: a message that the log has is stored there
 * once, and its place among the messages holds `{"seq": <seq>}`, which with its space is not what any message looks like.
 *
 * The field `refs` of such a state is `<revision>\t<highest seq>\t<start of the log>`, and its head is in the field `doc`. A
 * `refs` of another revision is what a save of a release without references has left behind: it counts no more, and `head` is
 * the head.
 */
export const referencesLua: string = `
local REFUSED_HEAD = '${REFUSED_HEAD}'

-- Highest seq that a state refers to, and the start of the log it is in; nil when it has no references.
local function read_refs(refs, rev)
  local own_rev, seq, start = string.match(refs or '', '^([^\\t]*)\\t(%d+)\\t(.*)$')
  if own_rev == rev then return tonumber(seq), start end
end

local function log_start()
  return string.sub(redis.call('LINDEX', LOG, 0) or '', 1, ${LOG_START_BYTES})
end

-- Replaces references in a list by the records they name. Returns a text with 1 for each of them and 0 for each other text, empty
-- when there is no reference; nil when the log does not have a record.
local function fetch(texts)
  local find, sub, count, places, seqs, flags = string.find, string.sub, 0, {}, {}, {}
  for at = 1, #texts do
    local text = texts[at]
    if find(text, '^{"seq": ') then
      count = count + 1
      places[count], seqs[count], flags[at] = at, tonumber(sub(text, 9, -2)), '1'
    else flags[at] = '0' end
  end
  local from = 1
  while from <= count do
    local first, to = seqs[from], from
    while seqs[to + 1] and seqs[to + 1] > seqs[to] and seqs[to + 1] <= seqs[to] + ${MAX_GAP}
      and seqs[to + 1] < first + ${MAX_RECORDS} do to = to + 1 end
    local records = redis.call('LRANGE', LOG, first - 1, seqs[to] - 1)
    for each = from, to do
      local record = records[seqs[each] - first + 1]
      if not record then return nil end
      texts[places[each]] = record
    end
    from = to + 1
  end
  return count == 0 and '' or table.concat(flags)
end

-- Stores the texts themselves in place of all references, before the log goes.
local function copy_back()
  local stored = redis.call('HMGET', STATE, 'rev', 'refs', 'doc')
  local seq, start = read_refs(stored[2], stored[1])
  if not seq or start ~= log_start() then return end
  local texts, left_ms = redis.call('LRANGE', MESSAGES, 0, -1), redis.call('PTTL', MESSAGES)
  local flags = fetch(texts)
  if not flags then return end
  for at = 1, #flags do
    if string.byte(flags, at) == 49 then
      local _, last = string.find(texts[at], '${MESSAGE_ALONE}', 1, true)
      if not last then return end
      texts[at] = string.sub(texts[at], last + 1, -2)
    end
  end
  redis.call('DEL', MESSAGES)
  for first = 1, #texts, 1000 do
    redis.call('RPUSH', MESSAGES, unpack(texts, first, math.min(first + 999, #texts)))
  end
  if left_ms > 0 then redis.call('PEXPIRE', MESSAGES, left_ms) end
  redis.call('HDEL', STATE, 'refs', 'doc', 'head')
  if stored[3] then redis.call('HSET', STATE, 'head', stored[3]) end
end
`;
