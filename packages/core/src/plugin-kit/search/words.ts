/**
 * Scripts without spaces between words. Korean has spaces, but its particles are joined to the words before them, which has
 * the same effect on a search.
 */
const UNSPACED = ["Han", "Hira", "Kana", "Bopo", "Hang", "Thai", "Laoo", "Khmr", "Mymr", "Tibt"]
  .map((script) => `\\p{scx=${script}}`)
  .join("");

const STARTS = "[\\p{L}\\p{N}]";
const GOES_ON = "[\\p{L}\\p{N}\\p{M}]";
const ASCII_WORD = /[a-z0-9]+/gi;
const ASCII = /^[\0-\x7f]*$/;
/** Latin letters that Unicode does not take apart. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};
const PLAIN_LETTERS = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "g");

/** Expressions with sets of Unicode: reading them takes milliseconds, so they are made when they are first needed. */
interface UnicodePatterns {
  readonly word: RegExp;
  readonly unspaced: RegExp;
  readonly unseen: RegExp;
  /** Accents of alphabets in which people leave them out; in others a mark makes another letter. */
  readonly accents: RegExp;
}

let made: UnicodePatterns | undefined;

function patterns(): UnicodePatterns {
  made ??= {
    word: new RegExp(
      `[${STARTS}&&[${UNSPACED}]][${GOES_ON}&&[${UNSPACED}]]*|[${STARTS}--[${UNSPACED}]][${GOES_ON}--[${UNSPACED}]]*`,
      "gv",
    ),
    unspaced: new RegExp(`^[${UNSPACED}]`, "v"),
    unseen: /\p{Default_Ignorable_Code_Point}/gu,
    accents: /([\p{Script=Latin}\p{Script=Greek}])[\u0300-\u036f]+/gu,
  };
  return made;
}

/** Normalizes text for comparison: ignores case, width, ligatures and invisible characters. */
export function foldText(text: string): string {
  // The most common case, and many times as fast.
  if (ASCII.test(text)) return text.toLowerCase();
  return (
    text
      .replace(patterns().unseen, "")
      .normalize("NFKC")
      .toLowerCase()
      // Lower-case letters may compose where capitals do not.
      .normalize("NFKC")
      .replaceAll("ς", "σ")
      .replaceAll("ё", "е")
  );
}

/** Folds text and removes accents, so that `cafe` finds `café`. */
export function plainText(text: string): string {
  const folded = foldText(text);
  if (ASCII.test(folded)) return folded;
  const parts = folded.normalize("NFD");
  const bare = /[\u0300-\u036f]/.test(parts)
    ? parts.replace(patterns().accents, "$1").normalize("NFC")
    : folded;
  // Last, since such a letter may have had an accent.
  return bare.replace(PLAIN_LETTERS, (letter) => LETTERS[letter] ?? letter);
}

/**
 * Returns the words of a text, folded, without accents and in order: runs of letters and digits. In a script without spaces
 * a run has several words; see {@link isUnspaced}.
 */
export function wordsOf(text: string): string[] {
  const folded = plainText(text);
  return folded.match(ASCII.test(folded) ? ASCII_WORD : patterns().word) ?? [];
}

/** A word and its place in the text. */
export interface PlacedWord {
  /** As {@link wordsOf} returns it. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Yields the words of a text with their places. */
export function* placedWords(text: string): Generator<PlacedWord, void, void> {
  for (const match of text.matchAll(ASCII.test(text) ? ASCII_WORD : patterns().word)) {
    const [run] = match;
    yield { word: plainText(run), start: match.index, end: match.index + run.length };
  }
}

/** Tells whether a word is a run of several words without spaces, to be compared by its pairs of characters. */
export function isUnspaced(word: string): boolean {
  return word.charCodeAt(0) > 0x7f && patterns().unspaced.test(word);
}

/** Returns the characters of a word, each with the marks that belong to it: a mark alone is no word, and could not be searched. */
export function charactersOf(word: string): string[] {
  return word.match(/.\p{M}*/gsu) ?? [];
}

/** Returns the pairs of neighbouring characters of a word, or its only character. */
export function pairsOf(word: string): string[] {
  const characters = charactersOf(word);
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
