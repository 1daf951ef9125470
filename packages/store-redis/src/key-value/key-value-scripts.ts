import { defineScript, type Script } from "../connection/script.js";

// Both begin alike. KEYS: values, names, done mark. ARGV: key, what is expected ("any", "none" or "version"), the version
// expected, how long the mark lasts. A write that was repeated because its reply was lost finds its mark, whatever others
// have done to the key since.
const begin = `
if redis.call("EXISTS", KEYS[3]) == 1 then return "done" end
local stored = redis.call("HGET", KEYS[1], ARGV[1])
local version = stored and string.match(stored, "^[^\\n]*")
if (ARGV[2] == "none" and stored) or (ARGV[2] == "version" and version ~= ARGV[3]) then
  return stored and "other" or "none"
end`;

/** Puts a value. Further ARGV: the new version, the JSON. Answers "done", or what is there instead: "other", "none". */
export const putScript: Script = defineScript(
  "put",
  true,
  `${begin}
redis.call("HSET", KEYS[1], ARGV[1], ARGV[5] .. "\\n" .. ARGV[6])
redis.call("ZADD", KEYS[2], 0, ARGV[1])
redis.call("SET", KEYS[3], "", "PX", ARGV[4])
return "done"`,
);

/** Deletes a value. Answers "done", "absent" when there was nothing to delete, or what is there instead. */
export const deleteScript: Script = defineScript(
  "delete",
  true,
  `${begin}
if not stored then return "absent" end
redis.call("HDEL", KEYS[1], ARGV[1])
redis.call("ZREM", KEYS[2], ARGV[1])
redis.call("SET", KEYS[3], "", "PX", ARGV[4])
return "done"`,
);

/**
 * Lists names. KEYS: names. ARGV: where to begin, as ZRANGEBYLEX wants it, the prefix, how many at most. Made by a script
 * because the end of a prefix is a byte that no text has.
 */
export const listScript: Script = defineScript(
  "list",
  false,
  `local last = ARGV[2] == "" and "+" or "(" .. ARGV[2] .. "\\255"
return redis.call("ZRANGEBYLEX", KEYS[1], ARGV[1], last, "LIMIT", 0, ARGV[3])`,
);
