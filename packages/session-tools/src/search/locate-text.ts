import { literalPattern } from "@holdfast/core/store-kit";
import type { BlobReader } from "../render/blob-reader.js";
import type { Part } from "../render/part.js";
import { partChunks } from "../render/part-chunks.js";

/** A stretch of a rendering. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * The first place of a rendering that holds a text, in any case.
 *
 * @returns `"echo"` when only calls or results of session tools hold it; null when nothing does
 */
export async function locateText(
  blobs: BlobReader,
  parts: readonly Part[],
  query: string,
): Promise<Place | "echo" | null> {
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

function firstOf(texts: readonly string[], window: string): Place | null {
  for (const text of texts) {
    const found = literalPattern(text).exec(window);
    if (found !== null) return { start: found.index, end: found.index + found[0].length };
  }
  return null;
}

function isEchoOrLabel(part: Part): boolean {
  return part.isEcho || part.kind === "label";
}
