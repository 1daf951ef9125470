import { createMessage } from "../message/create-message.js";
import type { DataBlock, Message, TextBlock, ToolResultBlock } from "../message/message.js";
import { messageBytes, toolResultsOf } from "../message/read-message.js";

/** Text kept of each side of a result that is too large. */
const previewChars = 2_000;

/**
 * The message itself when it is within the limit; otherwise the same with its large results cut to head and tail and a
 * note. The conversation log keeps the original: a turn is never lost because a tool said too much.
 */
export function fitResults(message: Message, maxBytes: number): Message {
  if (messageBytes(message) <= maxBytes) return message;
  const results = toolResultsOf(message);
  const share = maxBytes / results.length;
  return createMessage(
    "tool",
    results.map((result) =>
      Buffer.byteLength(JSON.stringify(result), "utf8") > share ? cut(result, maxBytes) : result,
    ),
    { id: message.id, createdAt: message.createdAt, metadata: message.metadata },
  );
}

function cut(result: ToolResultBlock, maxBytes: number): ToolResultBlock {
  const output: (TextBlock | DataBlock)[] = result.output.map((block) => {
    if (block.type === "text")
      return block.text.length <= 2 * previewChars
        ? block
        : {
            type: "text",
            text: `${block.text.slice(0, previewChars)}\n… ${block.text.length - 2 * previewChars} characters left out …\n${block.text.slice(-previewChars)}`,
          };
    if (block.source.kind === "url" || block.source.data.length <= previewChars) return block;
    return {
      type: "text",
      text: `(${block.mediaType}${block.name ? ` ${block.name}` : ""}, ${block.source.data.length} base64 characters, left out)`,
    };
  });
  output.push({
    type: "text",
    text: `This result was larger than the ${maxBytes} bytes one message may have; the conversation log has it whole.`,
  });
  return { ...result, output };
}
