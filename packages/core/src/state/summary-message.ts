import { createMessage } from "../message/create-message.js";
import type { HintBlock, Message } from "../message/message.js";

/** The message that stands for everything a compaction took out: role user, one hint from `summary`. */
export function summaryMessage(text: string): Message {
  return createMessage("user", [{ type: "hint", text, source: "summary" }]);
}

/** The one block of a summary message; undefined for any other message. */
export function summaryBlock(message: Message | undefined): HintBlock | undefined {
  if (message?.role !== "user" || message.content.length !== 1) return undefined;
  const block = message.content[0];
  return block?.type === "hint" && block.source === "summary" ? block : undefined;
}
