import { MAX_REPLACED, REMEMBERED_CHANGES, REMEMBERED_OPS } from "@holdfast/core/store-kit";

/** Changes in the ring buffer: those remembered before the latest one. */
const RING = REMEMBERED_CHANGES - 1;

/**
 * Lua functions over the ledger of what saves changed, as `store-kit` has it; for scripts in which `STATE` is the key of a state, with
 * its ring of ops.
 *
 * The field `change` of the state is the latest change, and `c0`, `c1`, … are the ring buffer of those before it, each as
 * `<number>\t<from>\t<to>\t<keep>\t<replaced indexes>\t<lease>` at its number modulo the size of the ring. Only the latest one
 * has its lease, which the next save may share.
 *
 * Each is true of the revisions it names, whatever was saved since. One that does not lead to the next, or to the stored
 * revision, is what releases without a ledger have left behind: the way ends there.
 */
export const changeLua: string = `
local function read_change(text)
  local number, from, to, keep, replaced, lease =
    string.match(text or '', '^(%d+)\\t([^\\t]+)\\t([^\\t]+)\\t(%d+)\\t([%d,]*)\\t(.*)$')
  if not number then return nil end
  return {number = tonumber(number), from = from, to = to, keep = tonumber(keep), replaced = replaced, lease = lease}
end

local function write_change(change, lease)
  return table.concat({change.number, change.from, change.to, change.keep, change.replaced, lease}, '\\t')
end

-- Takes the kept messages and replaced indexes of a change into those of others.
local function join_change(sum, change)
  sum.keep = math.min(sum.keep, change.keep)
  for index in string.gmatch(change.replaced, '%d+') do sum.indexes[tonumber(index)] = true end
end

-- Replaced indexes among the kept messages, in order.
local function kept_indexes(sum)
  local found = {}
  for index in pairs(sum.indexes) do
    if index < sum.keep then found[#found + 1] = index end
  end
  table.sort(found)
  return found
end

-- Adds a change to the ledger, whose latest one is given, by setting fields of the state.
local function note_change(set, latest, change, lease)
  local last, sum = read_change(latest), {keep = change.keep, indexes = {}}
  join_change(sum, change)
  change.number = last and last.number + 1 or 0
  if last and last.to == change.from then
    if lease ~= '' and last.lease == lease then
      change.number, change.from = last.number, last.from
      join_change(sum, last)
    else
      set('c' .. last.number % ${RING}, write_change(last, ''))
    end
  end
  local indexes = kept_indexes(sum)
  change.keep, change.replaced = sum.keep, table.concat(indexes, ',')
  set('change', #indexes > ${MAX_REPLACED} and '' or write_change(change, lease))
end

-- Returns what leads from a known revision to the stored one, and true when the state goes back to another one of its number.
local function changes_since(latest, rev, known)
  local sum, number, is_forked = {keep = math.huge, indexes = {}}, string.match(known, '^%d+%.'), false
  local function is_other(revision)
    return number and revision ~= known and string.sub(revision, 1, #number) == number
  end
  local change = read_change(latest)
  local leads_here = change and change.to == rev
  for _ = 1, ${REMEMBERED_CHANGES} do
    if not change then break end
    join_change(sum, change)
    if change.from == known then return leads_here and sum, false end
    is_forked = is_forked or is_other(change.from) or is_other(change.to)
    local before = read_change(redis.call('HGET', STATE, 'c' .. (change.number - 1) % ${RING}))
    change = before and before.to == change.from and before
  end
  -- The ledger has only the last save of a lease; the ring of ops has each of the latest.
  local op = number and redis.call('HGET', STATE, 'o' .. tonumber(string.sub(number, 1, -2)) % ${REMEMBERED_OPS})
  local saved = op and string.match(op, '\\t([^\\t]*)$')
  return nil, is_forked or saved and is_other(saved)
end
`;
