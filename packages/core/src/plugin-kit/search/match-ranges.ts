import { charactersOf, isUnspaced, pairsOf, placedWords } from "./words.js";

/** Range of a text, in UTF-16 units. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the places of a text that were looked for, in order; words with only a space between them are one place.
 *
 * @param isMatch - of the result of a search
 */
export function matchRanges(text: string, isMatch: (word: string) => boolean): TextRange[] {
  const ranges: { start: number; end: number }[] = [];
  const add = (start: number, end: number): void => {
    const last = ranges.at(-1);
    const isNext =
      last !== undefined && /^ ?$/.test(text.slice(last.end, Math.max(last.end, start)));
    if (isNext) last.end = end;
    else ranges.push({ start, end });
  };
  for (const { word, start, end } of placedWords(text)) {
    if (!isUnspaced(word)) {
      if (isMatch(word)) add(start, end);
      continue;
    }
    const run = text.slice(start, end);
    const characters = charactersOf(run);
    let at = start;
    for (const [index, pair] of pairsOf(run).entries()) {
      if (isMatch(pair)) add(at, at + pair.length);
      at += characters[index]?.length ?? 1;
    }
  }
  return ranges;
}
