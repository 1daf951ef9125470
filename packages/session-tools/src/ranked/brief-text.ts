import { type Message, StateCorruptError } from "@holdfast/core";
import type { MessageRecord } from "../log-records.js";
import type { BlobReader } from "../render/blob-reader.js";
import { type Part, partChunks } from "../render/part.js";
import { renderMessage } from "../render/render-message.js";

/** Text of a message without what the rendering adds: what was said, names and inputs of tools, their results. */
export interface BriefText {
  readonly text: string;
  /** Returns the offset in the rendering, for `session_history`, of an index of the text. */
  offsetOf(index: number): number;
}

/** Most characters of a message that are ranked; exact search sees all. */
const MAX_CHARS = 1_048_576;

/** Returns the text of a message; calls and results of session tools are not part of it. */
export async function briefText(blobs: BlobReader, record: MessageRecord): Promise<BriefText> {
  const { body } = renderMessage(record);
  const pieces: { readonly start: number; readonly offset: number }[] = [];
  let text = "";
  let offset = 0;
  try {
    for (const part of body) {
      const isShown = part.kind !== "label" && !part.isEcho;
      if (isShown && text !== "") text += " ";
      if (isShown) pieces.push({ start: text.length, offset });
      const whole = textOf(part);
      if (whole !== undefined) {
        offset += whole.length;
        if (isShown) text += whole;
      } else
        for await (const chunk of partChunks(blobs, part)) {
          offset += chunk.length;
          if (isShown && text.length < MAX_CHARS) text += chunk;
        }
      if (text.length >= MAX_CHARS) break;
    }
  } catch (error) {
    // One damaged text must not hide the others; reading it says what is wrong.
    if (!StateCorruptError.is(error)) throw error;
  }
  return {
    text: text.slice(0, MAX_CHARS),
    offsetOf(index) {
      const piece = pieces.findLast(({ start }) => start <= index);
      return piece === undefined ? 0 : piece.offset + index - piece.start;
    },
  };
}

/** Returns the text of a part without blobs. */
function textOf({ pieces }: Part): string | undefined {
  return pieces.every((piece) => typeof piece === "string") ? pieces.join("") : undefined;
}

/**
 * Returns a number that is the same for a message of the log and for one that is in a context in full. A message that was
 * shortened for the context has another one.
 */
export function messageTag(message: Message): number {
  const chars = (message.content as readonly object[]).reduce(
    (sum, block) => sum + charsOf(block),
    0,
  );
  let hash = 0x811c9dc5;
  for (const character of `${message.id}:${chars}`)
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}

function charsOf(block: object): number {
  if ("text" in block && typeof block.text === "string") return block.text.length;
  if ("input" in block) return JSON.stringify(block.input)?.length ?? 0;
  if ("output" in block && Array.isArray(block.output))
    return block.output.reduce((sum: number, part: object) => sum + charsOf(part), 0);
  return 0;
}
