/**
 * Lua function `refresh(ttl_ms, first_kept, keys)`, for scripts whose first key is a slot's lease: the keys from `first_kept` on,
 * of these or of all, are kept for `ttl_ms` from now, and at least for as long as the lease, however short `ttl_ms` is.
 */
export const refreshLua: string = `
local function refresh(ttl_ms, first_kept, keys)
  if ttl_ms <= 0 then return end
  local ms = math.max(ttl_ms, redis.call('PTTL', KEYS[1]))
  -- pcall: a server that refuses writes can still be read.
  keys = keys or KEYS
  for at = first_kept, #keys do redis.pcall('PEXPIRE', keys[at], ms) end
end
`;
