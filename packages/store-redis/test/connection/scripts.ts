import { randomUUID } from "node:crypto";
import { anyReply } from "../../src/connection/reply-shape.js";
import { defineScript } from "../../src/connection/script.js";

/** Appends to a list; a number that is there already is not added again. */
export const append = defineScript(
  "append",
  true,
  `if not redis.call("LPOS", KEYS[1], ARGV[1]) then redis.call("RPUSH", KEYS[1], ARGV[1]) end
return redis.call("LLEN", KEYS[1])`,
  anyReply,
);

/** Answers with everything it was given. */
export const echo = defineScript(
  "echo",
  false,
  `return {KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), false, {ARGV[3], {}}}`,
  anyReply,
);

/** A key nobody else uses. */
export function ownKey(): string {
  return `test:{${randomUUID()}}:list`;
}
