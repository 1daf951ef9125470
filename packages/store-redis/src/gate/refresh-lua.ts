/**
 * Lua function `refresh(ttl_ms)`, for scripts whose first key is a slot's lease and that name what is stored of the slot from
 * `first_kept` on: everything is kept for `ttl_ms` from now, and at least for as long as the lease, however short `ttl_ms` is.
 */
export const refreshLua: string = `
local function refresh(ttl_ms, first_kept)
  if ttl_ms <= 0 then return end
  local ms = math.max(ttl_ms, redis.call('PTTL', KEYS[1]))
  -- pcall: a server that refuses writes can still be read.
  for at = first_kept, #KEYS do redis.pcall('PEXPIRE', KEYS[at], ms) end
end
`;
