import { createMessage } from "../../message/create-message.js";
import type { Block, Message, TextBlock } from "../../message/message.js";
import { contentChars, messageBytes } from "../../message/read-message.js";

/** Metadata key of a reply that the log has whole. */
const SHORTENED = "shortened";

/**
 * The reply itself when it is within the limit; otherwise the same with a note in place of its largest files. The caller
 * gets the original and the conversation log keeps it, but every later request would have to carry it too.
 */
export function fitReply(message: Message, maxBytes: number): Message {
  const fits = messageBytes(message) <= maxBytes;
  const largest = fits ? null : largestFile(message.content);
  if (largest === null) return message;
  const { id, createdAt, usage } = message;
  const metadata = { ...message.metadata, [SHORTENED]: true };
  const content = message.content.map((block) => (block === largest ? note(largest) : block));
  return fitReply(
    createMessage("assistant", content, { id, createdAt, usage, metadata }),
    maxBytes,
  );
}

/** Tells whether a message is what {@link fitReply} left of a reply. */
export function isShortened({ metadata }: Message): boolean {
  return metadata?.[SHORTENED] === true;
}

type File = Extract<Block, { type: "data" }>;

function largestFile(content: readonly Block[]): File | null {
  const files = content.filter((block) => block.type === "data");
  return files.toSorted((one, other) => contentChars(other) - contentChars(one))[0] ?? null;
}

function note(file: File): TextBlock {
  const { mediaType, name, source } = file;
  return {
    type: "text",
    text: `(${mediaType}${name ? ` ${name}` : ""}, ${contentChars(file)} characters as ${source.kind}: too large to stay in the context; the conversation log has it)`,
  };
}
