import { compileRegex, cutIndex } from "@holdfast/core/plugin-kit";
import { RE2JS } from "re2js";
import { literalMatches, type Span } from "./literal-matches.js";

export type { Span } from "./literal-matches.js";

/** Overlap of the pieces of a long line: a match of up to this length is found wherever it is. */
const OVERLAP_CHARS = 1_024;
/** Least and most characters that are searched before other work may run. */
const PIECE_CHARS: readonly [number, number] = [4_096, 32_768];
/** Cost of the search of one piece: characters times steps of the expression's program. */
const PIECE_COST = 400_000;

/** Finds the first match in `text` from `from` on, or null. */
type Finder = (text: string, from: number) => Span | null;

/** Searches lines for a pattern. */
export interface LineSearch {
  /**
   * Yields the matches in a line, in order; the value passed to `next` is the position to continue from. Yields
   * `undefined` where other work may run.
   */
  search(line: string): Generator<Span | undefined, void, number | undefined>;
}

/**
 * Makes a search for literal text, or for a regular expression in linear time.
 *
 * @throws InvalidInputError for an expression that is invalid or too expensive
 */
export function lineSearch(pattern: string, isRegex: boolean): LineSearch {
  if (!isRegex) return { search: (line) => literalMatches(pattern, line) };
  const compiled = compileRegex(pattern, { compile: (text) => RE2JS.compile(text) });
  const [least, most] = PIECE_CHARS;
  const pieceChars = Math.ceil(PIECE_COST / compiled.programSize());
  const find = regexFinder(compiled);
  return { search: (line) => searchLine(find, line, Math.min(most, Math.max(least, pieceChars))) };
}

function* searchLine(
  find: Finder,
  line: string,
  pieceChars: number,
): Generator<Span | undefined, void, number | undefined> {
  let from = 0;
  for (let begin = 0, next: number; ; begin = next) {
    next = cutIndex(line, begin + pieceChars - OVERLAP_CHARS);
    const end = cutIndex(line, Math.min(line.length, begin + pieceChars));
    const isLast = end === line.length;
    const piece = begin === 0 && isLast ? line : line.slice(begin, end);
    // The start of a later piece only looks like the start of a line, and the piece before has covered it.
    let at = Math.max(from - begin, begin === 0 ? 0 : 1);
    while (at <= piece.length) {
      const found = find(piece, at);
      if (found === null) break;
      // The next piece has it too, and more of what follows, which may be part of it.
      if (!isLast && begin + found.start > next) break;
      const skipTo = yield { start: begin + found.start, end: begin + found.end };
      from = Math.max(skipTo ?? 0, begin + found.end, begin + found.start + 1);
      at = from - begin;
    }
    if (isLast) return;
    yield undefined;
  }
}

function regexFinder(compiled: RE2JS): Finder {
  return (text, from) => {
    const matcher = compiled.matcher(text);
    return matcher.find(from) ? { start: matcher.start(), end: matcher.end() } : null;
  };
}
