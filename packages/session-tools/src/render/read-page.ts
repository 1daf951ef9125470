import { cutIndex } from "@holdfast/core/plugin-kit";
import type { BlobReader } from "./blob-reader.js";
import type { Part } from "./part.js";
import { partChunks } from "./part-chunks.js";

/** A stretch of a rendering. */
export interface Page {
  readonly text: string;
  /** Where it begins: the offset asked for, or one less where that was within a character. */
  readonly start: number;
  readonly end: number;
  /** Nothing follows. */
  readonly isLast: boolean;
}

/**
 * Reads so many characters of a rendering from an offset on. Pages, each from the end of the one before, put together are
 * the rendering.
 *
 * @returns an empty last page, which begins where the rendering ends, when the offset is not in it
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
