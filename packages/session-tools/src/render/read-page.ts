import { cutIndex } from "@holdfast/core/plugin-kit";
import type { BlobReader } from "./blob-reader.js";
import { type Part, partChunks } from "./part.js";

/** Page of a rendering. */
export interface Page {
  readonly text: string;
  /** The requested offset, or one less where that was within a character. */
  readonly start: number;
  readonly end: number;
  /** True when nothing follows. */
  readonly isLast: boolean;
}

/**
 * Reads a page of a rendering, starting at an offset. Pages that each start at the end of the one before make up the
 * rendering.
 *
 * @returns an empty last page at the end of the rendering when the offset is past it
 */
export async function readPage(
  blobs: BlobReader,
  parts: readonly Part[],
  offset: number,
  maxChars: number,
): Promise<Page> {
  let at = 0;
  let text = "";
  let start: number | undefined;
  for (const part of parts)
    for await (const chunk of partChunks(blobs, part)) {
      if (at + chunk.length > offset) {
        const begin = cutIndex(chunk, offset - at);
        start ??= at + begin;
        const end = cutIndex(chunk, begin + maxChars - text.length);
        text += chunk.slice(begin, end);
        if (end < chunk.length) return { text, start, end: at + end, isLast: false };
      }
      at += chunk.length;
    }
  return { text, start: start ?? at, end: at, isLast: true };
}
