import { isText, listOf, textIn } from "../connection/reply-shape.js";
import { defineScript, type Script } from "../connection/script.js";

// Common start of both writes. KEYS: values, names, done mark. ARGV: key, expectation ("any", "none" or "version"), the expected
// version, lifetime of the mark in milliseconds. A write that is repeated because its reply was lost finds its mark, even when
// the key has changed since.
const begin = `
if redis.call("EXISTS", KEYS[3]) == 1 then return "done" end
local stored = redis.call("HGET", KEYS[1], ARGV[1])
local version = stored and string.match(stored, "^[^\\n]*")
if (ARGV[2] == "none" and stored) or (ARGV[2] == "version" and version ~= ARGV[3]) then
  return stored and "other" or "none"
end`;

/** Puts a value. Further ARGV: the new version, the JSON. Returns "done", or on a conflict what is stored: "other", "none". */
export const putScript: Script = defineScript(
  "put",
  true,
  `${begin}
redis.call("HSET", KEYS[1], ARGV[1], ARGV[5] .. "\\n" .. ARGV[6])
redis.call("ZADD", KEYS[2], 0, ARGV[1])
redis.call("SET", KEYS[3], "", "PX", ARGV[4])
return "done"`,
  textIn("done", "other", "none"),
);

/** Deletes a value. Returns "done", "absent" when there was nothing to delete, or on a conflict "other" or "none". */
export const deleteScript: Script = defineScript(
  "delete",
  true,
  `${begin}
if not stored then return "absent" end
redis.call("HDEL", KEYS[1], ARGV[1])
redis.call("ZREM", KEYS[2], ARGV[1])
redis.call("SET", KEYS[3], "", "PX", ARGV[4])
return "done"`,
  textIn("done", "absent", "other", "none"),
);

/**
 * Lists names. KEYS: names. ARGV: lower bound for ZRANGEBYLEX, the prefix, the limit. A script, because the upper bound of a
 * prefix contains a byte that no text has.
 */
export const listScript: Script = defineScript(
  "list",
  false,
  `local last = ARGV[2] == "" and "+" or "(" .. ARGV[2] .. "\\255"
return redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], last, "LIMIT", 0, ARGV[3])`,
  listOf(isText),
);
