import type { DataBlock, Message, TextBlock, ToolCallBlock, ToolResultBlock } from "./message.js";

/** Returns the text of a message: its text blocks joined, without hints and thinking. */
export function textOf(message: Message): string {
  let text = "";
  for (const block of message.content) if (block.type === "text") text += block.text;
  return text;
}

/** Returns the tool calls in a message, in order. */
export function toolCallsOf(message: Message): ToolCallBlock[] {
  return message.content.filter((block) => block.type === "tool_call");
}

/** Returns the tool results in a message, in order. */
export function toolResultsOf(message: Message): ToolResultBlock[] {
  return message.content.filter((block) => block.type === "tool_result");
}

const sizes = new WeakMap<Message, number>();

/** Returns the bytes of a message as JSON in UTF-8, computed once per message. */
export function messageBytes(message: Message): number {
  let size = sizes.get(message);
  if (size === undefined) {
    size = Buffer.byteLength(JSON.stringify(message), "utf8");
    sizes.set(message, size);
  }
  return size;
}

/** Returns the characters of a block: those of its text, its base64, or its URL, which may hold the data itself. */
export function contentChars(block: TextBlock | DataBlock): number {
  if (block.type === "text") return block.text.length;
  return block.source.kind === "base64" ? block.source.data.length : block.source.url.length;
}
