/** Start of every record's text, up to its seq. */
export const RECORD_START = '{"v":1,"seq":';

/**
 * Lua functions over records that leave out what a record before them has, for scripts of `defineSlotScript`.
 *
 * Records of one call are saved together and have most of their fields in common. The first one is stored whole; one behind it
 * may be stored as `<distance to it> <length of the start that both ids have>\t<rest of the id>\t<text from "at" or "kind" on>`.
 * No JSON text has a raw tab or begins with a digit and a space.
 */
export const shortRecordsLua: string = `
local function short_record(distance, id_length, id_rest, text)
  return distance .. ' ' .. id_length .. '\\t' .. id_rest .. '\\t' .. text
end

-- Whole text of a stored record.
local function whole_record(seq, text)
  local distance, id_length, id_rest, rest = string.match(text, '^(%d+) (%d+)\\t([^\\t]*)\\t(.*)$')
  if not distance then return text end
  local first = redis.call('LINDEX', LOG, seq - distance - 1) or ''
  local id, call, time = string.match(first, '^${RECORD_START}%d+,"id":"([^"]*)"(,"callId":.-)(,"at":"[^"]*"),"kind":')
  if not id then return text end
  if string.sub(rest, 1, 5) == ',"at"' then time = '' end
  return '${RECORD_START}' .. seq .. ',"id":"' .. string.sub(id, 1, id_length) .. id_rest .. '"' .. call .. time .. rest
end
`;
