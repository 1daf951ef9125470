/**
 * Scripts without spaces between words. Korean has spaces, but its particles are joined to the words before them, which has
 * the same effect on a search.
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

/** Normalizes text for comparison: ignores case, width, ligatures and invisible characters. */
export function foldText(text: string): string {
  // The most common case, and many times as fast.
  if (ASCII.test(text)) return text.toLowerCase();
  return (
    text
      .replace(UNSEEN, "")
      .normalize("NFKC")
      .toLowerCase()
      // Lower-case letters may compose where capitals do not.
      .normalize("NFKC")
      .replaceAll("ς", "σ")
      .replaceAll("ё", "е")
  );
}

/**
 * Returns the words of a text, folded and in order: runs of letters and digits. In a script without spaces a run has several
 * words; see {@link isUnspaced}.
 */
export function wordsOf(text: string): string[] {
  return wordsOfFolded(foldText(text));
}

/** Returns the {@link wordsOf} a text that is already folded. */
export function wordsOfFolded(folded: string): string[] {
  return folded.match(WORD) ?? [];
}

/** Tells whether a word is a run of several words without spaces, to be compared by its pairs of characters. */
export function isUnspaced(word: string): boolean {
  return word.charCodeAt(0) > 0x7f && UNSPACED_WORD.test(word);
}

/** Returns the pairs of neighbouring characters of a word, or its only character. */
export function pairsOf(word: string): string[] {
  const characters = [...word];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

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
