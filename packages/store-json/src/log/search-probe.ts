/** What JSON writes as it is. Halves of surrogate pairs are not; `u` keeps whole pairs together. */
const PLAIN = /[^"\\\p{Cc}\p{Cs}]+/gu;
const HAS_BLOBS = '"blobs":[';

/**
 * A quick look at a line before it is parsed: false only where {@link snippetAround} cannot find `query` in the record.
 *
 * What a text holds, its line holds too, but for what JSON escapes: so the longest part of the query that JSON leaves
 * alone must be there, whatever its case. Texts kept apart from the line are not in it.
 */
export function searchProbe(query: string): (line: string) => boolean {
  const plain = query
    .match(PLAIN)
    ?.reduce((one, other) => (other.length > one.length ? other : one));
  if (plain === undefined) return () => true;
  const pattern = new RegExp(plain.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu");
  return (line) => pattern.test(line) || line.includes(HAS_BLOBS);
}
