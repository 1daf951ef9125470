import { cutIndex } from "@holdfast/core/plugin-kit";
import type { BlobReader } from "../render/blob-reader.js";
import { type Part, partChunks } from "../render/part.js";
import type { LineSearch } from "./line-search.js";
import type { TextRange } from "./locate-text.js";

/** Least progress before time can be up: loading a long text may use up the time, and the next call loads it again. */
const MIN_PROGRESS_CHARS = 16_384;

/** Range of a match, null without one, or the offset to continue from because time was up. */
export type LineFind = TextRange | { readonly stoppedAt: number } | null;

/**
 * Finds the first match of an expression in the lines of a rendering. Labels, and calls and results of session tools, are
 * skipped.
 *
 * @param from - offset at which an earlier search stopped
 */
export async function locateLine(
  blobs: BlobReader,
  parts: readonly Part[],
  search: LineSearch,
  from: number,
): Promise<LineFind> {
  let at = 0;
  for (const part of parts.slice(0, parts.findLastIndex(isSearched) + 1)) {
    const lines = new PendingLines(search, Math.max(at, from), at >= from);
    for await (const chunk of partChunks(blobs, part)) {
      const skipped = Math.max(0, from - at);
      at += chunk.length;
      if (!isSearched(part) || skipped >= chunk.length) continue;
      lines.add(chunk.slice(skipped));
      for (let step = lines.next(); step !== null; step = lines.next()) {
        if (step.found !== null) return step.found;
        const pause = blobs.clock.tick();
        if (pause === undefined) continue;
        await pause;
        const { stoppedAt } = lines;
        if (blobs.clock.isUp && stoppedAt >= from + MIN_PROGRESS_CHARS) return { stoppedAt };
      }
    }
    const found = isSearched(part) && at >= from ? lines.last() : null;
    if (found !== null) return found;
  }
  return null;
}

function isSearched({ kind, isEcho }: Part): boolean {
  return kind !== "label" && !isEcho;
}

/** Text that has not been searched yet; it arrives in chunks and is searched line by line. */
class PendingLines {
  readonly #search: LineSearch;
  #text = "";
  #start: number;
  #isLineStart: boolean;

  constructor(search: LineSearch, start: number, isLineStart: boolean) {
    this.#search = search;
    this.#start = start;
    this.#isLineStart = isLineStart;
  }

  /** Offset for a later search; at the start of a line one less, because the line feed shows that it is one. */
  get stoppedAt(): number {
    return Math.max(0, this.#isLineStart ? this.#start - 1 : this.#start);
  }

  add(text: string): void {
    this.#text += text;
  }

  /** Searches the next line, or the next window of a long one; null when more text is needed. */
  next(): { readonly found: TextRange | null } | null {
    const { windowChars } = this.#search;
    const newline = this.#text.indexOf("\n");
    const isLine = newline >= 0 && newline <= windowChars;
    if (!isLine && this.#text.length <= windowChars) return null;
    const length = isLine ? newline : cutIndex(this.#text, windowChars);
    const window = this.#text.slice(0, length);
    const found = this.#find(window, isLine);
    const done = isLine ? length + 1 : this.#search.overlapStart(window);
    this.#text = this.#text.slice(done);
    this.#start += done;
    this.#isLineStart = isLine;
    return { found };
  }

  /** Searches the rest, at the end of the text. */
  last(): TextRange | null {
    return this.#find(this.#text, true);
  }

  #find(text: string, isLineEnd: boolean): TextRange | null {
    const found = this.#search.find({ text, isLineStart: this.#isLineStart, isLineEnd });
    return found && { start: this.#start + found.start, end: this.#start + found.end };
  }
}
