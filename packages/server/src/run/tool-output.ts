import type { DataBlock, JsonValue, TextBlock } from "@holdfast/core";
import { contentChars, cutIndex } from "@holdfast/core/plugin-kit";

/** Output of a tool, as events and messages have it. */
export type ToolOutput = readonly (TextBlock | DataBlock)[];

/** Returns the text of an output; a note stands for what is not text. */
export function outputText(output: ToolOutput): string {
  return output
    .map((block) => (block.type === "text" ? block.text : `[${block.name ?? block.mediaType}]`))
    .join("\n");
}

/**
 * Returns an output as a front end wants it: the object or list that the tool returned, a text, or the blocks where there is
 * more than text.
 */
export function outputValue(output: ToolOutput): JsonValue {
  if (output.some(({ type }) => type === "data"))
    return output.map((block) =>
      block.type === "text"
        ? { type: "text", text: block.text }
        : {
            type: "file",
            mediaType: block.mediaType,
            url: urlOf(block),
            ...(block.name !== undefined && { filename: block.name }),
          },
    );
  const text = outputText(output);
  if (!/^\s*[{[]/.test(text)) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** Returns the URL of a file, its own or one that holds its bytes. */
export function urlOf({ mediaType, source }: Pick<DataBlock, "mediaType" | "source">): string {
  return source.kind === "url" ? source.url : `data:${mediaType};base64,${source.data}`;
}

/** Most characters of an output that are shown, as in the events of its call. */
const MAX_OUTPUT_CHARS = 65_536;

/** Returns as much of an output as a front end is shown of it. */
export function boundedOutput(output: ToolOutput): ToolOutput {
  let left = MAX_OUTPUT_CHARS;
  return output.map((block) => {
    const size = contentChars(block);
    left -= size;
    if (left >= 0) return block;
    const room = Math.max(0, left + size);
    if (block.type === "text")
      return { type: "text", text: block.text.slice(0, cutIndex(block.text, room)) };
    left += size;
    return { type: "text", text: `[${block.name ?? block.mediaType}]` };
  });
}
