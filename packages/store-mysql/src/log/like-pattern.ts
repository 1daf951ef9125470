/** Stands before a character that LIKE would read as a wildcard; see `ESCAPE` in the statement. */
export const LIKE_ESCAPE = "|";

/** JSON writes these differently: quotes, backslashes, control characters, halves of surrogate pairs. */
const ESCAPED_BY_JSON = /["\\\p{Cc}\p{Cs}]/u;
/**
 * Characters that only match themselves, or their other case in ASCII. Not k and s: without regard to case the Kelvin
 * sign is a k and ſ is an s, and servers differ on that.
 */
const LITERAL = /[\x20-\x7e\p{Lo}]/u;
const AMBIGUOUS = /[ks]/iu;
const WILDCARD = /[%_|]/;

/**
 * A LIKE pattern that matches the JSON of every record in which `snippetAround` finds `query`, and of few others; null
 * when none would narrow anything down.
 *
 * What a text holds its JSON holds too, but for what JSON escapes: so the stretch of the query with the most characters
 * that stand for themselves must be there. The other characters of the stretch match any one character.
 */
export function likePattern(query: string): string | null {
  let best = { pattern: "", literals: 0 };
  for (const stretch of query.split(new RegExp(ESCAPED_BY_JSON, "gu"))) {
    const characters = [...stretch].map((character) => ({
      character,
      literal: isLiteral(character),
    }));
    const literals = characters.filter(({ literal }) => literal).length;
    if (literals <= best.literals) continue;
    const pattern = characters.map(({ character, literal }) =>
      literal ? escaped(character) : "_",
    );
    best = { pattern: pattern.join(""), literals };
  }
  return best.literals === 0 ? null : `%${best.pattern}%`;
}

function isLiteral(character: string): boolean {
  return LITERAL.test(character) && !AMBIGUOUS.test(character);
}

function escaped(character: string): string {
  return WILDCARD.test(character) ? `${LIKE_ESCAPE}${character}` : character;
}
