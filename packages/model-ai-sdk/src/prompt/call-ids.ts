import type { Message } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import type { Dialect } from "../dialect.js";

/** What Anthropic and OpenAI take, of whose APIs Chat Completions has the shortest; Mistral is narrower. */
const usualId = /^[\w-]{1,40}$/;
const mistralId = /^[A-Za-z0-9]{9}$/;

/**
 * The id each tool call goes by in a request: the one its provider gave it, when that is one any provider takes and no
 * other call of the request has it; else the session's own.
 */
export function callIdsIn(messages: readonly Message[], dialect: Dialect): Map<string, string> {
  const form = dialect === "mistral" ? mistralId : usualId;
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  let count = 0;
  const free = (id: unknown): id is string =>
    typeof id === "string" && form.test(id) && !taken.has(id);
  for (const { content, metadata } of messages) {
    const given = isRecord(metadata?.["providerCallIds"]) ? metadata["providerCallIds"] : {};
    for (const block of content) {
      if (block.type !== "tool_call") continue;
      let id: unknown = given[block.id];
      if (!free(id)) id = block.id;
      // Nine characters, as Mistral wants them.
      while (!free(id)) id = `call${String(++count).padStart(5, "0")}`;
      taken.add(id);
      ids.set(block.id, id);
    }
  }
  return ids;
}
