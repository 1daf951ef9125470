import { foldText } from "@holdfast/core/plugin-kit/search";

const QUOTES = /["'`“”„«»‘’*_]/g;
const SENTENCE_MARKS = /[.,;:!?…。、，；：！？]+(?![\p{L}\p{N}])/gu;

/**
 * Returns a key that is the same for texts with the same words: case, width, spaces, quotes and punctuation do not count.
 * Other signs do: `C` is not `C++`.
 */
export function factKey(text: string): string {
  return foldText(text)
    .replace(QUOTES, "")
    .replace(SENTENCE_MARKS, " ")
    .replace(/\s+/g, " ")
    .trim();
}
