/** Bytes per chunk: as JSON well under the megabyte a key-value store takes. */
export const CHUNK_BYTES = 262_144;

/** Cuts bytes into pieces of at most {@link CHUNK_BYTES}, not within a character where they are UTF-8 text. */
export function splitBytes(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = from + CHUNK_BYTES;
    const end = to < bytes.length ? characterStart(bytes, to) : bytes.length;
    pieces.push(bytes.subarray(from, end));
    from = end;
  }
  return pieces;
}

/** Bytes one after another. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The start of the character that `at` is in; `at` itself when there is no UTF-8 there. */
function characterStart(bytes: Uint8Array, at: number): number {
  for (let start = at; start > at - 4; start--)
    if (((bytes[start] ?? 0) & 0xc0) !== 0x80) return start;
  return at;
}
