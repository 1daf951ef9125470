import type { Page, PageRequest } from "./page-lines.js";

/** Bytes per line: 76 characters of base64, as in MIME. */
const LINE_BYTES = 57;

/** Counts the lines that bytes take as base64; there is always one. */
export function countBase64Lines(bytes: Uint8Array): number {
  return Math.max(1, Math.ceil(bytes.length / LINE_BYTES));
}

/**
 * Returns one page of bytes as base64, in numbered lines of 57 bytes each.
 *
 * @returns null when there is no such line
 */
export function pageBase64(
  bytes: Uint8Array,
  { offset, maxLines, maxBytes }: Omit<PageRequest, "charOffset">,
): Page | null {
  const totalLines = countBase64Lines(bytes);
  if (offset > totalLines) return null;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const rows: string[] = [];
  let room = maxBytes + 1;
  for (let line = offset; line <= totalLines && rows.length < maxLines; line++) {
    const begin = (line - 1) * LINE_BYTES;
    const row = `${line}\t${buffer.toString("base64", begin, begin + LINE_BYTES)}`;
    room -= row.length + 1;
    if (room < 0) break;
    rows.push(row);
  }
  const next = offset + rows.length;
  return {
    text: rows.join("\n"),
    firstLine: offset,
    lastLine: next - 1,
    totalLines,
    next: next > totalLines ? undefined : { offset: next, charOffset: 0 },
  };
}
