import type { ReplyShape } from "./connection/reply-shape.js";
import { defineScript, type Script } from "./connection/script.js";
import { slotParts } from "./keys.js";

/**
 * Lua names of a slot's keys, in the order of `slotKeys`, of which a script may be given the first ones.
 *
 * With the first one alone, as on a server that is not part of a cluster, all names are made from it: they are most of what a
 * short command sends.
 */
const slotKeysLua = `
local KEYS = KEYS
if #KEYS == 1 then
  local start = string.match(KEYS[1], '^(.*:)[^:]*$')
  KEYS = {${slotParts.map((part) => `start .. '${part}'`).join(", ")}}
end
local LEASE, QUEUE, CALLS, STATE, MESSAGES, INBOX, LOG, RECORDS, LOG_IDS, BLOBS = unpack(KEYS)
`;

/** Makes a {@link Script} over the keys of a slot. */
export function defineSlotScript(
  name: string,
  writes: boolean,
  source: string,
  reply: ReplyShape,
): Script {
  return defineScript(name, writes, slotKeysLua + source, reply, { derivesKeys: true });
}
