import { foldCase, matchesWildcard, mayMatchWildcard, star, type Token } from "../wildcard.js";
import { between, gap } from "./shell-word.js";

/** Specifier for commands, compiled. */
export interface CommandPattern {
  /** Tokens of the whole, words separated by {@link between}. */
  readonly tokens: readonly Token[];
  /** Further words may follow: the pattern ends in `:*` or ` *`. */
  readonly isPrefix: boolean;
  /** Words in front of the first `*`; the last may be the beginning of a word. */
  readonly head: readonly string[];
}

/**
 * Compiles a specifier for commands.
 * - `npm run test:*` and `npm run test *` match these words alone and with further ones
 * - `*` spans anything within one command, blanks included
 * - without `*` the command must be equal
 * - quotes are removed as a shell does, and `\` escapes the next character
 */
export function commandPattern(pattern: string): CommandPattern {
  const hasSuffix = pattern.endsWith(":*");
  const words = patternWords(hasSuffix ? pattern.slice(0, -2) : pattern);
  const last = words.at(-1);
  const endsInStar = words.length > 1 && last?.length === 1 && last[0] === star;
  const fixed = endsInStar ? words.slice(0, -1) : words;
  const tokens = fixed.flatMap((word, index) => (index === 0 ? word : [between, ...word]));
  const firstStar = tokens.indexOf(star);
  const literal = firstStar === -1 ? tokens : tokens.slice(0, firstStar);
  return { tokens, isPrefix: hasSuffix || endsInStar, head: literal.join("").split(between) };
}

/** Reports whether the pattern matches the words for every value of their gaps. */
export function coversWords(pattern: CommandPattern, words: readonly string[]): boolean {
  const text = words.join(between);
  return (
    matchesWildcard(pattern.tokens, text) ||
    (pattern.isPrefix && matchesWildcard([...pattern.tokens, between, star], text))
  );
}

/** Reports whether the pattern holds no `*`, so that it matches one command only. */
export function isExact(pattern: CommandPattern): boolean {
  return !pattern.isPrefix && !pattern.tokens.includes(star);
}

/**
 * Compares words with the pattern of a rule that forbids: blanks inside words count as blanks between them, upper case
 * as lower case.
 *
 * @returns `match`, `maybe` when some value of the gaps or another order of the options would match, or `none`
 */
export function forbidsWords(
  pattern: CommandPattern,
  words: readonly string[],
): "match" | "maybe" | "none" {
  const tokens = pattern.tokens.map(loose);
  const prefix: readonly Token[] = pattern.isPrefix ? [...tokens, " ", star] : tokens;
  const text = foldCase(words.join(" ").replaceAll(/\s+/g, " ").trim());
  if (matchesWildcard(tokens, text) || matchesWildcard(prefix, text)) return "match";
  if (text.includes(gap)) {
    const open = text.replaceAll(new RegExp(` ?${gap} ?`, "g"), gap);
    if (mayMatchWildcard(tokens, open, gap) || mayMatchWildcard(prefix, open, gap)) return "maybe";
  }
  return isReordered(pattern, words) ? "maybe" : "none";
}

function loose(token: Token): Token {
  if (typeof token !== "string") return token;
  return token === between || /\s/.test(token) ? " " : foldCase(token);
}

/** Reports whether the words hold those of the pattern with others between them, or its options written differently. */
function isReordered(pattern: CommandPattern, words: readonly string[]): boolean {
  const isWhole = !pattern.tokens.includes(star);
  const wanted = (isWhole ? pattern.head : pattern.head.slice(0, -1)).map(foldCase);
  const [name, ...parts] = wanted;
  const given = words.map(foldCase);
  if (name === undefined || name === "" || parts.length === 0 || given[0] !== name) return false;
  if (!pattern.isPrefix && isWhole && words.length < wanted.length) return false;
  const options = given.slice(1).filter((word) => word.startsWith("-"));
  let at = 1;
  return parts.every((part) => {
    if (part.startsWith("-")) return hasOption(options, part);
    at = given.indexOf(part, at) + 1;
    return at > 0;
  });
}

/** `-rf` is found in `-r -f`, `-fr` and `--recursive --force`; `--force` in `--forc`, `--force=x` and `-f`. */
function hasOption(options: readonly string[], wanted: string): boolean {
  if (options.some((word) => word === wanted || word.startsWith(`${wanted}=`))) return true;
  if (wanted.startsWith("--")) {
    const isShort = (word: string) => /^-[^-]/.test(word) && word.includes(wanted.charAt(2));
    return options.some(
      (word) => isShort(word) || (word.length > 3 && wanted.startsWith(word.split("=")[0] ?? word)),
    );
  }
  return [...wanted.slice(1)].every((letter) =>
    options.some((word) =>
      word.startsWith("--") ? word.charAt(2) === letter : word.includes(letter),
    ),
  );
}

function patternWords(pattern: string): readonly (readonly Token[])[] {
  const words: Token[][] = [];
  let word: Token[] | null = null;
  let quote: string | null = null;
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern.charAt(index);
    if (quote === null && /\s/.test(char)) {
      word = null;
      continue;
    }
    if (word === null) {
      word = [];
      words.push(word);
    }
    if (char === "\\" && index + 1 < pattern.length) word.push(pattern.charAt(++index));
    else if (char === quote) quote = null;
    else if (quote === null && /["']/.test(char) && isClosed(pattern, index)) quote = char;
    else word.push(char === "*" ? star : char);
  }
  return words;
}

function isClosed(pattern: string, open: number): boolean {
  for (let index = open + 1; index < pattern.length; index++) {
    if (pattern.charAt(index) === "\\") index++;
    else if (pattern.charAt(index) === pattern.charAt(open)) return true;
  }
  return false;
}
