import { plainText } from "../quote/plain-text.js";

/** Anything that some reader takes for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
/** Parts words, but must not be in a file: control characters, halves of characters, marks of annotations. */
const UNFIT = /[\p{Cc}\p{Surrogate}\uFFF9-\uFFFB]/gu;
/** Marks of a list, however often. */
const LIST_MARKS = /^(?:[-*+•] |[-*+•]$)+/;
const NUMBERED = /^\d{1,9}[.)] /;
/** What would be a heading, the fence of code or a rule at the beginning of a list item. */
const BLOCK_MARK = /^(?:#|`{3}|~{3}|([-_*=])(?: ?\1){2,}$)/;

/** The lines of a text that have something to see, trimmed, without what a file of notes should not hold. */
export function plainLines(text: string): string[] {
  return text
    .split(LINE_END)
    .map((line) => plainText(line.replace(UNFIT, " ")).replace(/\s+/g, " ").trim())
    .filter((line) => line !== "");
}

/**
 * Lines as the texts of list items of one line each: a list becomes its items, other lines go with the one before. Nothing
 * in them is a heading or another entry of the file they are written to.
 */
export function noteItems(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    const content = line.replace(LIST_MARKS, "");
    if (content === "") continue;
    const isItem = content !== line || NUMBERED.test(content);
    if (items.length === 0 || isItem) items.push(content);
    else items.push(`${items.pop()} ${content}`);
  }
  return items.map((item) => (BLOCK_MARK.test(item) ? `\\${item}` : item));
}
