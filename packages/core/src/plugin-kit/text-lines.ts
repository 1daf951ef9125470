const LINE_FEED = 0x0a;

/** Counts the lines of a text in UTF-8; a text that ends in a line feed has an empty last one. */
export function countLines(bytes: Uint8Array): number {
  let lines = 1;
  // Byte by byte: one call of indexOf per line would take seconds where lines are short.
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LINE_FEED) lines++;
  return lines;
}

/** Returns the index at which a line begins, counted from 1; null when the text has no such line. */
export function lineStart(bytes: Uint8Array, line: number): number | null {
  let missing = line - 1;
  if (missing === 0) return 0;
  for (let at = 0; at < bytes.length; at++)
    if (bytes[at] === LINE_FEED && --missing === 0) return at + 1;
  return null;
}

/** Returns `at`, or the start of the character that it is within; in bytes that are not UTF-8, `at`. */
export function characterStart(bytes: Uint8Array, at: number): number {
  for (let start = at; start > at - 4; start--)
    if (((bytes[start] ?? 0) & 0xc0) !== 0x80) return start;
  return at;
}
