import type { Block, Message } from "@holdfast/core";

/** All that messages say, as one text. */
export function textIn(messages: readonly Message[]): string {
  return messages.flatMap(({ content }) => content.map(blockText)).join("\n");
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
