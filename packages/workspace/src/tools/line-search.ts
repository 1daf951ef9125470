import { InvalidInputError } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";
import { RE2JS } from "re2js";
import { literalMatches, type Span } from "./literal-matches.js";

export type { Span } from "./literal-matches.js";

/** By how much pieces of a long line overlap. A match up to this long is found wherever it lies. */
const OVERLAP_CHARS = 1_024;
/** Least and most characters that are searched at once, before others may work. */
const PIECE_CHARS: readonly [number, number] = [4_096, 32_768];
/** What is searched at once may cost this much: characters times steps of the expression's program. */
const PIECE_COST = 2_000_000;
/** Steps of the largest program; an expression that repeats a great deal has a large one. */
const MAX_PROGRAM_SIZE = 500;
/** Longest expression taken: compiling takes time too, and cannot be divided. */
const MAX_PATTERN_CHARS = 1_000;

/** Finds the first match in `text` from `from` on, or null. */
type Finder = (text: string, from: number) => Span | null;

/** Looks for a pattern in one line after another. */
export interface LineSearch {
  /**
   * The matches in a line, in order; after each, `skipTo` may be set to where to go on. Between them there may be
   * `undefined`: a place to let others work.
   */
  search(line: string): Generator<Span | undefined, void, number | undefined>;
}

/**
 * A search for literal text, or for a regular expression in linear time.
 *
 * @throws InvalidInputError for an expression that is none or too costly
 */
export function lineSearch(pattern: string, isRegex: boolean): LineSearch {
  if (!isRegex) return { search: (line) => literalMatches(pattern, line) };
  const compiled = compile(pattern);
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
  for (let begin = 0; ; begin = cutIndex(line, begin + pieceChars - OVERLAP_CHARS)) {
    const end = cutIndex(line, Math.min(line.length, begin + pieceChars));
    const isLast = end === line.length;
    const piece = begin === 0 && isLast ? line : line.slice(begin, end);
    // The first place of a further piece only looks like the beginning of a line; the piece before has seen it.
    let at = Math.max(from - begin, begin === 0 ? 0 : 1);
    while (at <= piece.length) {
      const found = find(piece, at);
      if (found === null) break;
      const isUnsure = !isLast && found.end === piece.length;
      if (isUnsure && found.start >= piece.length - OVERLAP_CHARS) break;
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

function compile(pattern: string): RE2JS {
  if (pattern.length > MAX_PATTERN_CHARS)
    throw new InvalidInputError(
      `a regular expression may have ${MAX_PATTERN_CHARS} characters, this one has ${pattern.length}`,
    );
  if (repeatsOf(pattern) > MAX_PROGRAM_SIZE) throw tooCostly();
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern);
  } catch (error) {
    throw new InvalidInputError(
      `the pattern is no regular expression of RE2: ${error instanceof Error ? error.message : String(error)}; look-around and back-references are not supported`,
      { cause: error },
    );
  }
  if (compiled.programSize() > MAX_PROGRAM_SIZE) throw tooCostly();
  return compiled;
}

/** The sum of all `{n}` and `{n,m}`, each of which is at least as many steps of the program. */
function repeatsOf(pattern: string): number {
  const braces = pattern.replace(/\\./gs, "").matchAll(/\{(\d+)(?:,(\d*))?\}/g);
  let sum = 0;
  for (const [, least, most] of braces) sum += Math.max(Number(least), Number(most ?? 0));
  return sum;
}

function tooCostly(): InvalidInputError {
  return new InvalidInputError("the pattern repeats too much to be searched for; simplify it");
}
