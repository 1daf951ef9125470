/** Any run of characters, none included. */
export const star: unique symbol = Symbol("*");

/** One character of any kind. */
export const anyOne: unique symbol = Symbol("?");

/** One character of a set. */
export interface CharacterClass {
  readonly negated: boolean;
  /** First and last character of each range. */
  readonly ranges: readonly (readonly [string, string])[];
}

/** Part of a compiled pattern: a literal character or one of the wildcards. */
export type Token = string | typeof star | typeof anyOne | CharacterClass;

/** Returns the tokens of a pattern in which `*` is the only wildcard and `\` escapes the next character. */
export function starPattern(pattern: string): readonly Token[] {
  const tokens: Token[] = [];
  for (let index = 0; index < pattern.length; index++) {
    const char = pattern.charAt(index);
    if (char === "\\" && index + 1 < pattern.length) tokens.push(pattern.charAt(++index));
    else tokens.push(char === "*" ? star : char);
  }
  return tokens;
}

/**
 * Reports whether the tokens match the whole text.
 * The time is bounded by the product of the two lengths: only the last star is ever tried again.
 */
export function matchesWildcard(tokens: readonly Token[], text: string): boolean {
  let at = 0;
  let token = 0;
  let lastStar = -1;
  let retryAt = 0;
  while (at < text.length) {
    const current = tokens[token];
    if (current === star) {
      lastStar = token++;
      retryAt = at;
    } else if (current !== undefined && matchesOne(current, text.charAt(at))) {
      token++;
      at++;
    } else if (lastStar >= 0) {
      token = lastStar + 1;
      at = ++retryAt;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === star);
}

/**
 * Reports whether the tokens match the text for some value of its gaps.
 *
 * @param gap - character that stands for any run of characters
 */
export function mayMatchWildcard(tokens: readonly Token[], text: string, gap: string): boolean {
  // reached[i]: the first i tokens match the text read so far, for some value of the gaps.
  let reached = closed([true, ...tokens.map(() => false)], tokens);
  for (const char of text) {
    const next: boolean[] = [char === gap ? reached[0] === true : false];
    for (let index = 0; index < tokens.length; index++) {
      const token = tokens[index] as Token;
      const before = reached[index] === true;
      const stays = token === star && reached[index + 1] === true;
      if (char === gap) next.push(reached[index + 1] === true || next[index] === true);
      else next.push(stays || (token !== star && before && matchesOne(token, char)));
    }
    reached = closed(next, tokens);
  }
  return reached[tokens.length] === true;
}

function closed(reached: boolean[], tokens: readonly Token[]): boolean[] {
  tokens.forEach((token, index) => {
    if (token === star && reached[index]) reached[index + 1] = true;
  });
  return reached;
}

function matchesOne(token: Exclude<Token, typeof star>, char: string): boolean {
  if (typeof token === "string") return token === char;
  if (token === anyOne) return true;
  return token.ranges.some(([from, to]) => from <= char && char <= to) !== token.negated;
}

/** Returns the text in lower case, character by character: the length stays the same. */
export function foldCase(text: string): string {
  return text.replaceAll(/\p{Lu}/gu, (char) => {
    const lower = char.toLowerCase();
    return lower.length === char.length ? lower : char;
  });
}
