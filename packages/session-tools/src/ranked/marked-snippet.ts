import { cutIndex } from "@holdfast/core/plugin-kit";
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

/** Returns the part of a text with the most different matches, marked as `»match«`. */
export function markedSnippet(
  text: string,
  isMatch: (word: string) => boolean,
  maxChars: number,
): MarkedSnippet {
  const ranges = matchRanges(text, isMatch);
  const { start, end } = bestWindow(text, ranges, maxChars);
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

function bestWindow(text: string, ranges: readonly TextRange[], maxChars: number): TextRange {
  if (text.length <= maxChars) return { start: 0, end: text.length };
  let best = 0;
  let most = 0;
  for (const [index, { start }] of ranges.entries()) {
    const from = Math.max(0, start - Math.floor(maxChars / LEAD_PART));
    const found = new Set<string>();
    for (let next = index; next < ranges.length; next++) {
      const range = ranges[next] as TextRange;
      if (range.end > from + maxChars) break;
      found.add(text.slice(range.start, range.end).toLowerCase());
    }
    if (found.size > most) [best, most] = [from, found.size];
  }
  const start = best <= NEAR_START_CHARS ? 0 : spaceBefore(text, cutIndex(text, best));
  return { start, end: Math.max(start, cutIndex(text, start + maxChars)) };
}

/** Begins at a word rather than within one. */
function spaceBefore(text: string, at: number): number {
  const space = text.lastIndexOf(" ", at);
  return space >= 0 && at - space <= NEAR_START_CHARS ? space + 1 : at;
}
