import type { Message } from "@holdfast/core";
import { searchableText } from "@holdfast/core/store-kit";

/** All that a list of messages says, as one text. */
export function textIn(messages: readonly Message[]): string {
  return messages.map(searchableText).join("\n");
}

/** The summary that a request begins with; empty where there is none. */
export function summaryIn(messages: readonly Message[]): string {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks
    .flatMap((block) => (block.type === "hint" && block.source === "summary" ? block.text : []))
    .join("\n");
}
