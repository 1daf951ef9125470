import { compileRegex, cutIndex } from "@holdfast/core/plugin-kit";
import { RE2JS } from "re2js";
import type { Place } from "./locate-text.js";

/** Least and most characters that are searched at once, before others may work. */
const WINDOW_CHARS: readonly [number, number] = [1_024, 8_192];
/** What is searched at once may cost this much: characters times steps of the expression's program. */
const WINDOW_COST = 100_000;
/** Windows of a long line overlap by one part in so many. A match up to that long is found wherever it lies. */
const OVERLAP_PART = 4;

/** A line, or a window of one that is too long to be searched at once. */
export interface LineWindow {
  readonly text: string;
  /** Otherwise its first character is only there for what stands in front of a match. */
  readonly isLineStart: boolean;
  readonly isLineEnd: boolean;
}

/** Looks for a regular expression in linear time. */
export class LineSearch {
  readonly #pattern: RE2JS;
  /** Lines longer than this are searched in windows. */
  readonly windowChars: number;

  /** @throws InvalidInputError for an expression that is none or too costly */
  constructor(pattern: string) {
    this.#pattern = compileRegex(pattern, {
      compile: (text) => RE2JS.compile(text),
      name: "query",
    });
    const [least, most] = WINDOW_CHARS;
    const affordable = Math.ceil(WINDOW_COST / this.#pattern.programSize());
    this.windowChars = Math.min(most, Math.max(least, affordable));
  }

  /** The first match, or null; one that the next window sees better is left to it. */
  find({ text, isLineStart, isLineEnd }: LineWindow): Place | null {
    const line = isLineEnd && text.endsWith("\r") ? text.slice(0, -1) : text;
    // The first character may be a pair; a match cannot begin within it.
    const from = isLineStart ? 0 : 2 - cutDifference(line);
    if (from > line.length) return null;
    // Whether there is a match is known much sooner than where.
    if (!this.#pattern.test(line)) return null;
    const matcher = this.#pattern.matcher(line);
    if (!matcher.find(from)) return null;
    const [start, end] = [matcher.start(), matcher.end()];
    const isUnsure = !isLineEnd && end === line.length;
    return isUnsure && start > this.overlapStart(line) ? null : { start, end };
  }

  /** Where the next window of a line begins, within this one. */
  overlapStart(window: string): number {
    return cutIndex(window, window.length - Math.floor(this.windowChars / OVERLAP_PART));
  }
}

/** 1 when a text may be cut behind its first unit, 0 when that is half of a pair. */
function cutDifference(text: string): number {
  return text.length < 2 ? 1 : cutIndex(text, 1);
}
