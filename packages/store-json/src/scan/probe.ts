import { BytePattern } from "./byte-pattern.js";

/** What JSON writes as it is. Halves of surrogate pairs are not; `u` keeps whole pairs together. */
const PLAIN = /[^"\\\p{Cc}\p{Cs}]+/gu;
/** The rest of an escape that a text found in JSON may begin with, or be: of `\n` an `n`, of `\u001f` that without `\`. */
const ESCAPE_REST = /^(?:u?0?0?[01][0-9a-f]|u?0{0,2}[01]?$|[bfnrt0-9a-f])/i;

/** What must be in the bytes of a record for a query to be in its text; null: that cannot be told from bytes. */
export interface Probe {
  /** In its line, or else in one of its long texts. */
  readonly line: BytePattern | null;
  /** In the file of a long text. */
  readonly blob: BytePattern | null;
}

/**
 * What to look for in files.
 *
 * What a text holds, its line holds too, but for what JSON escapes: so the longest part of the query that JSON leaves
 * alone must be there, whatever its case. A long text is in a file of its own, as it is; but where it is an argument of a
 * tool it is also searched as JSON, and there the query may begin with the rest of an escape.
 */
export function probeOf(query: string): Probe {
  const part = (query.match(PLAIN) ?? []).reduce(
    (one, other) => (other.length > one.length ? other : one),
    "",
  );
  return { line: BytePattern.of(part), blob: BytePattern.of(part.replace(ESCAPE_REST, "")) };
}
