import type { Block, Message } from "@holdfast/core";

/** All that a list of messages says, as one text. */
export function textIn(messages: readonly Message[]): string {
  return messages.flatMap(({ content }) => content.map(blockText)).join("\n");
}

/** The summary that a request begins with; empty where there is none. */
export function summaryIn(messages: readonly Message[]): string {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks
    .filter((block) => block.type === "hint" && block.source === "summary")
    .map(blockText)
    .join("\n");
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
    case "thinking":
    case "hint":
      return block.text;
    case "tool_call":
      return JSON.stringify(block.input);
    case "tool_result":
      return block.output.map(blockText).join("\n");
    case "data":
      return "";
  }
}
