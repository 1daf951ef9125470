import type { TokenCounter } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";

/** More characters than a token has in any ordinary text: longer texts need not be counted in full. */
const CHARS_PER_TOKEN = 16;
/** First guess of the search. */
const USUAL_CHARS_PER_TOKEN = 4;

/** Tells whether a text has at most `maxTokens`; a text that is far too long is not counted. */
export function fitsTokens(text: string, maxTokens: number, counter: TokenCounter): boolean {
  return text.length <= maxTokens * CHARS_PER_TOKEN && counter.countText(text) <= maxTokens;
}

/** Cuts the middle out of a text that is longer than about `maxChars`, and says how much is missing. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = cutIndex(text, Math.ceil(maxChars * 0.6));
  const tail = cutIndex(text, text.length - Math.floor(maxChars * 0.4));
  return `${text.slice(0, head)} [… ${tail - head} characters left out …] ${text.slice(tail)}`;
}

/** Returns the longest beginning of a text, in whole lines, of at most `maxTokens`. */
export function headOf(text: string, maxTokens: number, counter: TokenCounter): string {
  const cut = (chars: number): string => text.slice(0, text.lastIndexOf("\n", chars - 1) + 1);
  return longest(text, maxTokens, counter, cut);
}

/** Returns the longest beginning of a text, cut anywhere, of at most `maxTokens`. */
export function anyHeadOf(text: string, maxTokens: number, counter: TokenCounter): string {
  return longest(text, maxTokens, counter, (chars) => text.slice(0, cutIndex(text, chars)));
}

/** Returns the longest end of a text, in whole lines, of at most `maxTokens`. */
export function tailOf(text: string, maxTokens: number, counter: TokenCounter): string {
  const cut = (chars: number): string => {
    const newline = text.indexOf("\n", text.length - chars);
    return newline < 0 ? "" : text.slice(newline + 1);
  };
  return longest(text, maxTokens, counter, cut);
}

/**
 * Splits a text into pieces of whole lines with at most `maxTokens`; a line that is too long is cut anywhere. Returns at most
 * `maxPieces`.
 */
export function linePieces(
  text: string,
  maxTokens: number,
  counter: TokenCounter,
  maxPieces: number = Number.POSITIVE_INFINITY,
): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== "" && pieces.length < maxPieces; ) {
    const piece = headOf(rest, maxTokens, counter) || rest.slice(0, cutIndex(rest, maxTokens) || 1);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces;
}

/**
 * Finds the longest result of `cut` that fits, by binary search: the result grows with the number of characters. Stops early
 * for a long text, because counting takes time, so a few lines may be missing.
 */
function longest(
  text: string,
  maxTokens: number,
  counter: TokenCounter,
  cut: (chars: number) => string,
): string {
  const fits = (part: string): boolean => counter.countText(part) <= maxTokens;
  let high = Math.min(text.length, maxTokens * CHARS_PER_TOKEN);
  if (high === text.length && fits(text)) return text;
  let best = "";
  let middle = Math.min(high, maxTokens * USUAL_CHARS_PER_TOKEN);
  for (let low = 1; high - low >= maxTokens >> 5; middle = (low + high) >> 1) {
    const part = cut(middle);
    if (fits(part)) {
      best = part;
      low = middle + 1;
    } else high = middle - 1;
  }
  return best;
}
