import type { Block, Message } from "@holdfast/core";

/** A message as a person reads it; as it was said, so it has to be made safe before it is printed. */
export function messageText({ content }: Message): string {
  return content.map(blockText).join("\n");
}

/** Characters of everything in a message, data and inputs of tools included. */
export function messageChars(message: Message): number {
  return JSON.stringify(message.content).length;
}

function blockText(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return `[thinking] ${block.text}`;
    case "hint":
      return `[${block.source}] ${block.text}`;
    case "data":
      return `[${block.mediaType}${block.name === undefined ? "" : ` ${block.name}`}]`;
    case "tool_call":
      return `[calls ${block.name}] ${JSON.stringify(block.input)}`;
    case "tool_result":
      return `[${block.name}: ${block.state}] ${block.output.map(blockText).join("\n")}`;
    default:
      // Of a newer release.
      return JSON.stringify(block);
  }
}
