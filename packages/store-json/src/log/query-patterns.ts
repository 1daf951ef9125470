import { BytePattern } from "./byte-pattern.js";

/** Text that JSON writes without escapes. Lone surrogates are escaped; `u` keeps surrogate pairs together. */
const PLAIN = /[^"\\\p{Cc}\p{Cs}]+/gu;
/** The tail of an escape that a query may begin with or be: `n` of `\n`, `001f` of `\u001f`. */
const ESCAPE_TAIL =
  /^(?:u?0?0?[01][0-9a-f]|u?0{0,2}[01]?$|[bfnrt0-9a-f])/i; /** The field of a record that lists its blobs; inside a text the quotes would be escaped. */
const BLOBS_FIELD = '"blobs":[{';

/** Patterns that rule out records by their bytes. */
export interface QueryPatterns {
  /** Found in the line of every record whose text holds the query, unless one of its blobs does. */
  readonly line: BytePattern;
  /** Found in the line of every record with blobs. */
  readonly blobsField: BytePattern;
  /** Found in every blob whose text holds the query. */
  readonly blob: BytePattern;
}

/**
 * Derives the byte patterns of a query.
 *
 * A line holds the same text as its record except where JSON escapes it, so the longest part of the query that JSON leaves
 * alone must be in the line, in any case. A blob is stored unescaped, but an argument of a tool is also searched as JSON,
 * where the query may begin with the tail of an escape. Without such a part the patterns are found everywhere.
 */
export function queryPatterns(query: string): QueryPatterns {
  const part = (query.match(PLAIN) ?? []).reduce(
    (one, other) => (other.length > one.length ? other : one),
    "",
  );
  return {
    line: new BytePattern(part),
    blobsField: new BytePattern(BLOBS_FIELD),
    blob: new BytePattern(part.replace(ESCAPE_TAIL, "")),
  };
}
