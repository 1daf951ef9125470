import type { TokenCounter } from "../ports/token-counter.js";
import * as kinds from "./character-kind.js";
import { tokenCounterOf } from "./token-counter-of.js";

/** What a word costs, in hundredths of a token: `first` for its beginning, `growth` for every letter after `free`. */
interface WordPrice {
  readonly first: number;
  readonly free: number;
  readonly growth: number;
}

// Means over the pieces into which o200k_base splits English prose, TypeScript, Python and JSON, rounded.
/** Nearly every word behind a space is one token. */
const SPACED: WordPrice = { first: 100, free: 6, growth: 6 };
/** Fewer words are in the vocabulary without the space: starts of lines, JSON strings, parts of camelCase. */
const BARE: WordPrice = { first: 100, free: 4, growth: 10 };
/** A single mark before a word joins it (`.length`, `_id`): the mark has been charged, the word is nearly free. */
const MARKED: WordPrice = { first: 5, free: 3, growth: 14 };
// Accented letters tell a language other than English, whose words break into more pieces, accents or not.
const FOREIGN_SPACED: WordPrice = { first: 100, free: 4, growth: 16 };
const FOREIGN_BARE: WordPrice = { first: 100, free: 3, growth: 24 };
const FOREIGN_MARKED: WordPrice = { first: 30, free: 2, growth: 24 };
/** Words of Greek, Cyrillic, Arabic and the like. */
const OTHER_ALPHABET: WordPrice = { first: 100, free: 3, growth: 18 };
/** How many words after an accented letter are taken to be of the same language. */
const FOREIGN_WORDS = 24;

const TOKEN = 100;
/** From this letter on a word is a compound or a random string, and costs `LONG_WORD` more per letter. */
const LONG_WORD_FROM = 10;
const LONG_WORD = 12;
/** A capital behind a capital: `HTTP` is a token, `JFK` is two. */
const CAPITAL = 18;
const ACCENT = 8;
/** `'s`, `'t` and the like are mostly part of their word. */
const CONTRACTION = 25;
/** Up to three digits are a token. */
const DIGITS_PER_TOKEN = 3;
/** What the second, third, … mark of a row costs: `":`, `",` and `();` are tokens, longer rows break. */
const MARK_GROWTH = [0, 8, 22, 55, 60] as const;
/** A mark like the one before it, as in `-----`. */
const REPEATED_MARK = 6;
const REPEATED_SYMBOL = 40;
const REPEATED_NEWLINE = 3;
/** Spaces beyond the second of a row. */
const SPACE_GROWTH = 1;
const CJK_CHARACTER = 68;
/** Chinese characters do not take up the space before them. */
const SPACE_BEFORE_CJK = 55;
const HANGUL_WORD = 45;
const HANGUL_SYLLABLE = 55;
/** Half of an emoji. */
const HALF_PAIR = 80;

/**
 * Estimates the tokens of `o200k_base` from kinds and runs of characters: one pass, no vocabulary, no allocation.
 *
 * Texts of a page or more are within 15 % for English, code, JSON and simplified Chinese, mostly within 8 %; within 20 %
 * for German, French, Spanish, Italian, Russian, Japanese, Korean, hexadecimal digits and numbers. Traditional Chinese,
 * Polish, Turkish and Ukrainian count about a fifth too few, base64 a quarter; other scripts were not measured.
 *
 * @example
 * const counter = characterEstimate();
 * counter.countText("most words are one token");
 */
export function characterEstimate(): TokenCounter {
  return tokenCounterOf({
    id: "character-estimate",
    countText: (text) => (text === "" ? 0 : Math.max(1, Math.round(centsOf(text) / TOKEN))),
  });
}

/** Every character adds something or nothing; only a space or apostrophe at the end may cost less once text follows. */
function centsOf(text: string): number {
  let cents = 0;
  /** The last unit that was not a space, and its kind. */
  let last = 0;
  let before = 0;
  /** Spaces since then. */
  let spaces = 0;
  /** How long the present word, number or row of marks is. */
  let run = 0;
  let loneMark = false;
  let price = BARE;
  let foreignWords = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const kind = kinds.kindOf(unit);
    if (kind === kinds.SPACE) {
      if (++spaces > 2) cents += SPACE_GROWTH;
      continue;
    }
    const spaced = spaces > 0;
    // Of several spaces the last joins what follows, the others are a token; before a line end all of them join it.
    if (spaces > 1 && kind !== kinds.NEWLINE) cents += TOKEN;
    spaces = 0;
    switch (kind) {
      case kinds.NEWLINE:
        // A row of line ends is about one token, and joins a mark before it (`;\n`).
        if (before === kinds.NEWLINE) cents += REPEATED_NEWLINE;
        else if (before !== kinds.MARK || spaced) cents += TOKEN;
        break;
      case kinds.LOWER:
      case kinds.UPPER:
      case kinds.ACCENTED:
      case kinds.LETTER: {
        const camel = kind === kinds.UPPER && before === kinds.LOWER;
        if (!spaced && !camel && isLetter(before)) {
          run++;
          if (run > price.free) cents += price.growth;
          if (run > LONG_WORD_FROM) cents += LONG_WORD;
          if (kind === kinds.UPPER && before === kinds.UPPER) cents += CAPITAL;
        } else {
          const marked = !spaced && before === kinds.MARK && loneMark;
          if (kind === kinds.LETTER) price = OTHER_ALPHABET;
          else if (foreignWords === 0) price = spaced ? SPACED : marked ? MARKED : BARE;
          else price = spaced ? FOREIGN_SPACED : marked ? FOREIGN_MARKED : FOREIGN_BARE;
          if (foreignWords > 0) foreignWords--;
          cents += price.first;
          run = 1;
        }
        if (kind === kinds.ACCENTED) {
          cents += ACCENT;
          foreignWords = FOREIGN_WORDS;
        }
        break;
      }
      case kinds.DIGIT:
        // A number does not take up the space before it.
        if (spaced) cents += TOKEN;
        run = spaced || before !== kinds.DIGIT ? 1 : run + 1;
        if (run % DIGITS_PER_TOKEN === 1) cents += TOKEN;
        break;
      case kinds.MARK:
        if (!spaced && isContraction(text, index, unit, before)) {
          cents += CONTRACTION;
          continue;
        }
        loneMark = spaced || before !== kinds.MARK;
        if (loneMark) {
          cents += TOKEN;
          run = 1;
        } else {
          cents += unit === last ? REPEATED_MARK : (MARK_GROWTH[Math.min(run, 5) - 1] as number);
          run++;
        }
        // Behind a space it has joined the space, and does not join a word.
        if (spaced) loneMark = false;
        break;
      case kinds.CJK:
        cents += spaced ? CJK_CHARACTER + SPACE_BEFORE_CJK : CJK_CHARACTER;
        break;
      case kinds.HANGUL:
        if (spaced || before !== kinds.HANGUL) cents += HANGUL_WORD;
        cents += HANGUL_SYLLABLE;
        break;
      case kinds.HALF:
        cents += HALF_PAIR;
        break;
      default:
        cents += unit === last && !spaced ? REPEATED_SYMBOL : TOKEN;
    }
    last = unit;
    before = kind;
  }
  return spaces > 0 ? cents + TOKEN : cents;
}

function isLetter(kind: number): boolean {
  return (
    kind === kinds.LOWER || kind === kinds.UPPER || kind === kinds.ACCENTED || kind === kinds.LETTER
  );
}

/** Whether a mark is an apostrophe inside a word. */
function isContraction(text: string, index: number, unit: number, before: number): boolean {
  return (
    unit === 0x27 &&
    before === kinds.LOWER &&
    index + 1 < text.length &&
    kinds.kindOf(text.charCodeAt(index + 1)) === kinds.LOWER
  );
}
