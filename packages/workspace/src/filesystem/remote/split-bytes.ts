import { characterStart } from "@holdfast/core/plugin-kit";

/** Bytes per chunk: as JSON well below the megabyte that a key-value store accepts. */
export const CHUNK_BYTES = 262_144;

/** Splits bytes into pieces of at most {@link CHUNK_BYTES}; UTF-8 text is never split within a character. */
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

/** Concatenates bytes. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
