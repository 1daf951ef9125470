import { literalPattern } from "@holdfast/core/store-kit";
import type { BlobReader } from "../render/blob-reader.js";
import { type Part, partChunks } from "../render/part.js";

/** Range of a text, in UTF-16 units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the first occurrence of a text in a rendering, ignoring case.
 *
 * @returns `"echo"` when only calls or results of session tools contain it; null when nothing does
 */
export async function locateText(
  blobs: BlobReader,
  parts: readonly Part[],
  query: string,
): Promise<TextRange | "echo" | null> {
  if (parts.some((part) => part.isEcho) && parts.every(isEchoOrLabel)) return "echo";
  const escaped = JSON.stringify(query).slice(1, -1);
  let isInEcho = false;
  let at = 0;
  for (const part of parts) {
    const texts = part.kind === "json" && escaped !== query ? [query, escaped] : [query];
    const overlap = Math.max(...texts.map((text) => text.length)) - 1;
    let window = "";
    for await (const chunk of partChunks(blobs, part)) {
      const start = at - window.length;
      at += chunk.length;
      if (part.kind === "label") continue;
      window += chunk;
      const found = firstOf(texts, window);
      if (found !== null && !part.isEcho)
        return { start: start + found.start, end: start + found.end };
      isInEcho ||= found !== null;
      window = overlap === 0 ? "" : window.slice(-overlap);
    }
  }
  return isInEcho ? "echo" : null;
}

function firstOf(texts: readonly string[], window: string): TextRange | null {
  for (const text of texts) {
    const found = literalPattern(text).exec(window);
    if (found !== null) return { start: found.index, end: found.index + found[0].length };
  }
  return null;
}

function isEchoOrLabel(part: Part): boolean {
  return part.isEcho || part.kind === "label";
}
