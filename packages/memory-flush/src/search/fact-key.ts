import { foldText } from "./words.js";

const QUOTES = /["'`“”„«»‘’*_]/g;
const SENTENCE_MARKS = /[.,;:!?…。、，；：！？]+(?![\p{L}\p{N}])/gu;

/**
 * The same for two texts that say the same in the same words: case, width, spaces, quotes and the marks of a sentence do
 * not count. Other signs do: `C` is not `C++`.
 */
export function factKey(text: string): string {
  return foldText(text)
    .replace(QUOTES, "")
    .replace(SENTENCE_MARKS, " ")
    .replace(/\s+/g, " ")
    .trim();
}
