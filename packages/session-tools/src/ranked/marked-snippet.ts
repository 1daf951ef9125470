import { cutIndex, type YieldingClock } from "@holdfast/core/plugin-kit";
import { matchRanges, type TextRange } from "@holdfast/core/plugin-kit/search";
import { oneLine } from "../search/snippet-at.js";

/** Part of the window that is left free before the first match. */
const LEAD_PART = 6;
/** A window whose first characters are as near to the beginning of the text begins there. */
const NEAR_START_CHARS = 24;

/** A part of a text, in one line, matches marked. */
export interface MarkedSnippet {
  readonly text: string;
  /** Index of its first character. */
  readonly start: number;
}

/** Longest part of a text that is kept for a page. */
const EXCERPT_CHARS = 1_200;
/** Characters that are looked at before other work may run. */
const SLICE_CHARS = 16_384;

/** Returns the part of a long text with the most different matches, with some text around them; a short one as it is. */
export async function excerptOf(
  text: string,
  isMatch: (word: string) => boolean,
  clock: YieldingClock,
): Promise<MarkedSnippet> {
  if (text.length <= EXCERPT_CHARS) return { text, start: 0 };
  let best = { start: 0, matches: 0 };
  for (let from = 0; from < text.length; from += SLICE_CHARS) {
    await clock.tick();
    const slice = text.slice(from, from + SLICE_CHARS);
    const found = bestPlace(slice, matchRanges(slice, isMatch), EXCERPT_CHARS / 2);
    if (found.matches > best.matches) best = { ...found, start: found.start + from };
  }
  const start = cutIndex(text, Math.max(0, best.start - EXCERPT_CHARS / 4));
  return { text: text.slice(start, cutIndex(text, start + EXCERPT_CHARS)), start };
}

/** Returns the part of a text with the most different matches, marked as `»match«`. */
export function markedSnippet(
  text: string,
  isMatch: (word: string) => boolean,
  maxChars: number,
): MarkedSnippet {
  const ranges = matchRanges(text, isMatch);
  const { start, end } = windowOf(text, ranges, maxChars);
  let marked = start > 0 ? "…" : "";
  let at = start;
  for (const range of ranges) {
    if (range.start < start || range.end > end) continue;
    marked += `${text.slice(at, range.start)}»${text.slice(range.start, range.end)}«`;
    at = range.end;
  }
  marked += text.slice(at, end);
  return { text: oneLine(marked + (end < text.length ? "…" : "")).trim(), start };
}

function windowOf(text: string, ranges: readonly TextRange[], maxChars: number): TextRange {
  if (text.length <= maxChars) return { start: 0, end: text.length };
  const best = bestPlace(text, ranges, maxChars).start;
  const start = best <= NEAR_START_CHARS ? 0 : spaceBefore(text, cutIndex(text, best));
  return { start, end: Math.max(start, cutIndex(text, start + maxChars)) };
}

/** Finds where the most different matches stand together, as close as they do anywhere. */
function bestPlace(
  text: string,
  ranges: readonly TextRange[],
  maxChars: number,
): { readonly start: number; readonly matches: number } {
  let best = { start: 0, matches: 0, span: 0 };
  const counts = new Map<string, number>();
  const wordOf = ({ start, end }: TextRange): string => text.slice(start, end).toLowerCase();
  let first = 0;
  for (const range of ranges) {
    const word = wordOf(range);
    counts.set(word, (counts.get(word) ?? 0) + 1);
    for (; ; first++) {
      const oldest = ranges[first] as TextRange;
      const count = counts.get(wordOf(oldest)) ?? 0;
      // Matches that are there again, or too far away, leave the window.
      if (count === 1 && range.end - oldest.start <= maxChars) break;
      if (oldest === range) break;
      if (count === 1) counts.delete(wordOf(oldest));
      else counts.set(wordOf(oldest), count - 1);
    }
    const { start } = ranges[first] as TextRange;
    const span = range.end - start;
    const isBetter =
      counts.size > best.matches || (counts.size === best.matches && span < best.span);
    if (isBetter) best = { start, matches: counts.size, span };
  }
  return {
    start: Math.max(0, best.start - Math.floor(maxChars / LEAD_PART)),
    matches: best.matches,
  };
}

/** Begins at a word rather than within one. */
function spaceBefore(text: string, at: number): number {
  const space = text.lastIndexOf(" ", at);
  return space >= 0 && at - space <= NEAR_START_CHARS ? space + 1 : at;
}
