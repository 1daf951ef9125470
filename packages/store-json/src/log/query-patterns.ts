import { literalPattern } from "@holdfast/core";

/** Characters of the query that are matched in bytes: the parsed record is matched against all of it anyway. */
const MAX_CHARACTERS = 48;
/** Upper bound for the bytes of a match: in UTF-8 a character has at most four. */
export const MAX_MATCH_BYTES: number = 4 * MAX_CHARACTERS;

/** Text that JSON writes without escapes. Lone surrogates are escaped; `u` keeps surrogate pairs together. */
const PLAIN = /[^"\\\p{Cc}\p{Cs}]+/gu;
/** The tail of an escape that a query may begin with or be: `n` of `\n`, `001f` of `\u001f`. */
const ESCAPE_TAIL = /^(?:u?0?0?[01][0-9a-f]|u?0{0,2}[01]?$|[bfnrt0-9a-f])/i;
/** The field of a record that lists its blobs; inside a text the quotes would be escaped. */
const BLOBS_FIELD = '"blobs":\\[\\{';

/** Patterns that rule out records by their bytes, read as Latin-1: one character per byte. */
export interface QueryPatterns {
  /** Matches in the line of every record whose text holds the query, unless one of its blobs does. */
  readonly line: RegExp;
  /** Matches where {@link line} does, and in the line of every record with blobs. */
  readonly lineOrBlobs: RegExp;
  /** Matches in every blob whose text holds the query. */
  readonly blob: RegExp;
}

/**
 * Derives the byte patterns of a query.
 *
 * A line holds the same text as its record except where JSON escapes it, so the longest part of the query that JSON leaves
 * alone must be in the line, in any case. A blob is stored unescaped, but an argument of a tool is also searched as JSON,
 * where the query may begin with the tail of an escape. A query without such a part matches everywhere.
 */
export function queryPatterns(query: string): QueryPatterns {
  const part = (query.match(PLAIN) ?? []).reduce(
    (one, other) => (other.length > one.length ? other : one),
    "",
  );
  const line = bytePattern(part);
  return {
    line,
    lineOrBlobs: new RegExp(`${line.source}|${BLOBS_FIELD}`, "g"),
    blob: bytePattern(part.replace(ESCAPE_TAIL, "")),
  };
}

/** Tells whether a pattern matches somewhere in these bytes. */
export function isIn(pattern: RegExp, bytes: Buffer): boolean {
  return bytes.toString("latin1").search(pattern) !== -1;
}

/** Finds in UTF-8, read as Latin-1, the start of a text in any case, as `literalPattern` finds it in text. */
export function bytePattern(text: string): RegExp {
  const characters = [...text].slice(0, MAX_CHARACTERS);
  return new RegExp(characters.map(byteSource).join(""), "g");
}

function byteSource(character: string): string {
  const forms = caseVariants(character).map((variant) => Buffer.from(variant).toString("latin1"));
  return `(?:${forms.map((form) => literalPattern(form).source).join("|")})`;
}

/** Every UTF-16 unit that has a case; collected when first needed, which takes some milliseconds. */
let casedUnits: string | undefined;

/** Returns the characters that `literalPattern` takes for this one, itself included. */
function caseVariants(character: string): readonly string[] {
  casedUnits ??= Array.from({ length: 0x10000 }, (_, unit) => String.fromCharCode(unit))
    .join("")
    .replace(/\P{Changes_When_Casemapped}+/gu, "");
  return casedUnits.match(new RegExp(literalPattern(character), "gi")) ?? [character];
}
