import { createMessage } from "../../message/create-message.js";
import type { DataBlock, Message, TextBlock, ToolResultBlock } from "../../message/message.js";
import { contentChars, messageBytes, toolResultsOf } from "../../message/read-message.js";
import { cutIndex } from "../../plugin-kit/cut-text.js";

/** Text kept of each side of a result that is too large: as much as fits, tried in this order. */
const previewChars = [2_000, 500, 100, 0] as const;

/**
 * The message itself when it is within the limit; otherwise the same with its large results cut to head and tail and a
 * note. The conversation log keeps the original: a turn is never lost because a tool said too much.
 */
export function fitResults(message: Message, maxBytes: number): Message {
  if (messageBytes(message) <= maxBytes) return message;
  const results = toolResultsOf(message);
  const around = messageBytes({ ...message, content: [] }) + results.length;
  const share = Math.floor((maxBytes - around) / results.length);
  return createMessage(
    "tool",
    results.map((result) => (bytesOf(result) > share ? cut(result, share, maxBytes) : result)),
    { id: message.id, createdAt: message.createdAt, metadata: message.metadata },
  );
}

/** A preview of the result that fits into `share` bytes; of what does not fit even then, only the note. */
function cut(result: ToolResultBlock, share: number, maxBytes: number): ToolResultBlock {
  const { metadata, output, ...rest } = result;
  const small = output.filter((block) => block.type === "data" && isSmall(block));
  const text = output
    .filter((block) => !small.includes(block))
    .map(inWords)
    .join("\n");
  const note: TextBlock = {
    type: "text",
    text: `This result was larger than the ${maxBytes} bytes one message may have; the conversation log has it whole.`,
  };
  const kept = metadata !== undefined && isSmall(metadata) ? { metadata } : {};
  for (const chars of previewChars) {
    const preview: TextBlock = { type: "text", text: bothEnds(text, chars) };
    const candidate = { ...rest, ...kept, output: [preview, ...small, note] };
    if (bytesOf(candidate) <= share) return candidate;
  }
  return { ...rest, output: [note] };
}

function isSmall(value: object): boolean {
  return bytesOf(value) <= previewChars[0];
}

/** Returns a text as it is, and a note in place of data. */
export function inWords(block: TextBlock | DataBlock): string {
  if (block.type === "text") return block.text;
  const { mediaType, name, source } = block;
  return `(${mediaType}${name ? ` ${name}` : ""}, ${contentChars(block)} characters as ${source.kind}, left out)`;
}

function bothEnds(text: string, chars: number): string {
  const head = cutIndex(text, chars);
  const tail = cutIndex(text, text.length - chars);
  if (head >= tail) return text;
  return `${text.slice(0, head)}\n… ${tail - head} characters left out …\n${text.slice(tail)}`;
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value), "utf8");
}
