/** `a` to `z`. */
export const LOWER = 1;
/** `A` to `Z`. */
export const UPPER = 2;
/** `0` to `9`. */
export const DIGIT = 3;
/** Punctuation and control characters of ASCII. */
export const MARK = 4;
/** Spaces and tabs. */
export const SPACE = 5;
/** Line ends. */
export const NEWLINE = 6;
/** Latin letters outside ASCII. */
export const ACCENTED = 7;
/** Letters of other alphabets, such as Greek, Cyrillic and Arabic. */
export const LETTER = 8;
/** Chinese characters and Japanese kana. */
export const CJK = 9;
/** Korean syllables. */
export const HANGUL = 10;
/** One half of a surrogate pair, such as most emoji are. */
export const HALF = 11;
/** Signs outside ASCII: dashes, quotes, arrows, Chinese punctuation. */
export const SYMBOL = 12;

/** What a UTF-16 unit is, as one of the constants of this file; rare scripts go with their neighbours. */
export function kindOf(unit: number): number {
  return unit < 0x80 ? (ASCII[unit] as number) : kindAboveAscii(unit);
}

const ASCII = Uint8Array.from({ length: 0x80 }, (_, unit) => {
  const char = String.fromCharCode(unit);
  if (/[a-z]/.test(char)) return LOWER;
  if (/[A-Z]/.test(char)) return UPPER;
  if (/[0-9]/.test(char)) return DIGIT;
  if (/[\r\n]/.test(char)) return NEWLINE;
  return /\s/.test(char) ? SPACE : MARK;
});

function kindAboveAscii(unit: number): number {
  if (unit < 0xc0) return unit === 0xa0 ? SPACE : SYMBOL;
  if (unit < 0x250) return unit === 0xd7 || unit === 0xf7 ? SYMBOL : ACCENTED;
  if (unit < 0x1e00) return LETTER;
  if (unit < 0x1f00) return ACCENTED; // Vietnamese
  if (unit < 0x2000) return LETTER;
  if (unit < 0x3040) return SYMBOL;
  if (unit < 0xac00) return CJK;
  if (unit < 0xd7b0) return HANGUL;
  if (unit < 0xe000) return HALF;
  return unit >= 0xf900 && unit < 0xfb00 ? CJK : SYMBOL;
}
