/** Largest chunk, in bytes of UTF-8. */
const CHUNK_BYTES = 262_144;

/** A well-formed text in pieces of at most 256 KB of UTF-8, cut between characters. */
export function chunksOf(text: string): string[] {
  const bytes = Buffer.from(text, "utf8");
  const chunks: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(start + CHUNK_BYTES, bytes.length);
    while (end < bytes.length && isInsideCharacter(bytes[end])) end--;
    chunks.push(bytes.toString("utf8", start, end));
    start = end;
  }
  return chunks;
}

function isInsideCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
