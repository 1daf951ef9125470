import type { DataBlock, TextBlock } from "../message/message.js";

/** Returns the characters of a block: those of its text, its base64, or its URL, which may hold the data itself. */
export function contentChars(block: TextBlock | DataBlock): number {
  if (block.type === "text") return block.text.length;
  return block.source.kind === "base64" ? block.source.data.length : block.source.url.length;
}
