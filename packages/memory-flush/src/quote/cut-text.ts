import type { TokenCounter } from "@holdfast/core";
import { cutIndex } from "@holdfast/core/plugin-kit";

/** More characters than a token stands for in any text worth reading: longer texts need not be counted whole. */
const CHARS_PER_TOKEN = 16;
/** Where to look first. */
const USUAL_CHARS_PER_TOKEN = 4;

/** Whether a text has at most `maxTokens`; one that cannot is not counted. */
export function fitsTokens(text: string, maxTokens: number, counter: TokenCounter): boolean {
  return text.length <= maxTokens * CHARS_PER_TOKEN && counter.countText(text) <= maxTokens;
}

/** A text of at most about `maxChars`: head and tail of a longer one, with a note of what is missing. */
export function cutMiddle(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = cutIndex(text, Math.ceil(maxChars * 0.6));
  const tail = cutIndex(text, text.length - Math.floor(maxChars * 0.4));
  return `${text.slice(0, head)} [… ${tail - head} characters left out …] ${text.slice(tail)}`;
}

/** The longest beginning of a text, in whole lines, of at most `maxTokens`. */
export function headOf(text: string, maxTokens: number, counter: TokenCounter): string {
  const cut = (chars: number): string => text.slice(0, text.lastIndexOf("\n", chars - 1) + 1);
  return longest(text, maxTokens, counter, cut);
}

/** The longest beginning of a text, cut anywhere, of at most `maxTokens`. */
export function anyHeadOf(text: string, maxTokens: number, counter: TokenCounter): string {
  return longest(text, maxTokens, counter, (chars) => text.slice(0, cutIndex(text, chars)));
}

/** The longest end of a text, in whole lines, of at most `maxTokens`. */
export function tailOf(text: string, maxTokens: number, counter: TokenCounter): string {
  const cut = (chars: number): string => {
    const newline = text.indexOf("\n", text.length - chars);
    return newline < 0 ? "" : text.slice(newline + 1);
  };
  return longest(text, maxTokens, counter, cut);
}

/**
 * A text in pieces of at most `maxTokens`, each of whole lines; a line that is too long by itself is cut anywhere. With
 * `maxPieces`, only the first so many.
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
 * By halving: what `cut` leaves of some number of characters grows with it. Of a long text a few lines may be missing to the
 * longest: counting takes time.
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
