import { compileRegex, cutIndex } from "@holdfast/core/plugin-kit";
import { RE2JS } from "re2js";
import type { TextRange } from "./locate-text.js";

/** Least and most characters that are searched before other work may run. */
const WINDOW_CHARS: readonly [number, number] = [1_024, 8_192];
/** Cost of the search of one window: characters times steps of the expression's program. */
const WINDOW_COST = 100_000;
/** Windows of a long line overlap by this fraction (1/n); a match of up to that length is found wherever it is. */
const OVERLAP_PART = 4;

/** A line, or a window of one that is too long to be searched at once. */
export interface LineWindow {
  readonly text: string;
  /** If false, the first character is only context for a match after it. */
  readonly isLineStart: boolean;
  readonly isLineEnd: boolean;
}

/** Searches lines for a regular expression, in linear time. */
export class LineSearch {
  readonly #pattern: RE2JS;
  /** Lines longer than this are searched in windows. */
  readonly windowChars: number;

  /** @throws InvalidInputError for an expression that is invalid or too expensive */
  constructor(pattern: string) {
    this.#pattern = compileRegex(pattern, {
      compile: (text) => RE2JS.compile(text),
      name: "query",
    });
    const [least, most] = WINDOW_CHARS;
    const affordable = Math.ceil(WINDOW_COST / this.#pattern.programSize());
    this.windowChars = Math.min(most, Math.max(least, affordable));
  }

  /** Finds the first match, or null; one that the next window has too is left to it, because it may continue there. */
  find({ text, isLineStart, isLineEnd }: LineWindow): TextRange | null {
    const line = isLineEnd && text.endsWith("\r") ? text.slice(0, -1) : text;
    // The first character may be a surrogate pair; a match cannot begin within it.
    const from = isLineStart ? 0 : 2 - cutDifference(line);
    if (from > line.length) return null;
    // Testing for a match is much faster than finding where it is.
    if (!this.#pattern.test(line)) return null;
    const matcher = this.#pattern.matcher(line);
    if (!matcher.find(from)) return null;
    const [start, end] = [matcher.start(), matcher.end()];
    return !isLineEnd && start > this.overlapStart(line) ? null : { start, end };
  }

  /** Returns the index at which the next window of a line begins. */
  overlapStart(window: string): number {
    return cutIndex(window, window.length - Math.floor(this.windowChars / OVERLAP_PART));
  }
}

/** Returns 1 when a text may be cut after its first unit, 0 when that is half of a surrogate pair. */
function cutDifference(text: string): number {
  return text.length < 2 ? 1 : cutIndex(text, 1);
}
