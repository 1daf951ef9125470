/** Escape character for wildcards of LIKE; see `ESCAPE` in the statement. */
export const LIKE_ESCAPE = "|";

/** Characters that JSON escapes: quotes, backslashes, control characters, halves of surrogate pairs. */
const ESCAPED_BY_JSON = /["\\\p{Cc}\p{Cs}]/u;
/**
 * Characters that match only themselves, or their other case in ASCII. Not k and s: case-insensitively the Kelvin sign is a k
 * and ſ is an s, and servers differ on that.
 */
const LITERAL = /[\x20-\x7e\p{Lo}]/u;
const AMBIGUOUS = /[ks]/iu;
const WILDCARD = /[%_|]/;

/**
 * Returns a LIKE pattern that matches the JSON of every record in which `snippetAround` finds `query`, and of few others; null
 * when no pattern would narrow anything down.
 *
 * A text appears in its JSON except for escaped characters, so the stretch of the query with the most literal characters must
 * be there. Its other characters match any one character.
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
