/**
 * Scripts that put no spaces between words. Korean has spaces, but its particles stick to the words before them, which
 * comes to the same for a search.
 */
const UNSPACED = ["Han", "Hira", "Kana", "Bopo", "Hang", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"]
  .map((script) => `\\p{scx=${script}}`)
  .join("");

const STARTS = "[\\p{L}\\p{N}]";
const GOES_ON = "[\\p{L}\\p{N}\\p{M}]";
const WORD = new RegExp(
  `[${STARTS}&&[${UNSPACED}]][${GOES_ON}&&[${UNSPACED}]]*|[${STARTS}--[${UNSPACED}]][${GOES_ON}--[${UNSPACED}]]*`,
  "gv",
);
const UNSPACED_WORD = new RegExp(`^[${UNSPACED}]`, "v");
const ASCII = /^[\0-\x7f]*$/;
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;

/** Text in the form in which it is compared: without regard to case, width and ligatures, and without unseen characters. */
export function foldText(text: string): string {
  // Most text there is, and many times as fast.
  if (ASCII.test(text)) return text.toLowerCase();
  return (
    text
      .replace(UNSEEN, "")
      .normalize("NFKC")
      .toLowerCase()
      // Small letters may compose where capitals do not.
      .normalize("NFKC")
      .replaceAll("ς", "σ")
      .replaceAll("ё", "е")
  );
}

/**
 * The words of a text, folded and in order: what stands between anything but letters and digits. Of a script without spaces,
 * a word is all that stands together; {@link isUnspaced} tells.
 */
export function wordsOf(text: string): string[] {
  return wordsOfFolded(foldText(text));
}

/** {@link wordsOf} a text that is folded already. */
export function wordsOfFolded(folded: string): string[] {
  return folded.match(WORD) ?? [];
}

/** Whether a word is one of several without spaces between, to be compared by its pairs of characters. */
export function isUnspaced(word: string): boolean {
  return word.charCodeAt(0) > 0x7f && UNSPACED_WORD.test(word);
}

/** The pairs of neighbouring characters of a word; a single character is itself. */
export function pairsOf(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

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
