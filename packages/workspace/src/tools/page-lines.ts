import { characterStart, countLines, lineStart } from "@holdfast/core/plugin-kit";

/** Start and size limit of a page. */
export interface PageRequest {
  /** First line, from 1. */
  readonly offset: number;
  /** Start within that line, in UTF-16 units. */
  readonly charOffset: number;
  readonly maxLines: number;
  /** UTF-8 bytes of the whole page, line numbers included. */
  readonly maxBytes: number;
}

/** Page of a text with numbered lines. */
export interface Page {
  /** Rows `<line number>⇥<text>`, joined by a line feed. */
  readonly text: string;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly totalLines: number;
  /** End of the last row within its line, where the line was cut. */
  readonly cutAt?: number | undefined;
  /** Start of the next page; absent at the end of the text. */
  readonly next?: { readonly offset: number; readonly charOffset: number } | undefined;
}

const LINE_FEED = 0x0a;

/**
 * Returns one page of a text in UTF-8. The pages that `next` leads through make up the text: their rows without the numbers,
 * joined by a line feed, or by nothing where a page starts within a line.
 *
 * A line that is longer than a page is cut between characters. Only the page itself is decoded, so that a page in the
 * middle of a large file is cheap.
 *
 * @returns null when the text has no such line, or the line no such character
 */
export function pageLines(text: Uint8Array, request: PageRequest): Page | null {
  const { offset, maxLines, maxBytes } = request;
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  const start = lineStart(bytes, offset);
  const begin =
    start === null ? null : seek(bytes, start, endOfLine(bytes, start), request.charOffset);
  if (begin === null) return null;
  const rows: string[] = [];
  let at = begin.at;
  let room = maxBytes;
  const page = (rest: Pick<Page, "cutAt" | "next">): Page => ({
    text: rows.join("\n"),
    firstLine: offset,
    lastLine: offset + rows.length - 1,
    totalLines: countLines(bytes),
    ...rest,
  });
  while (rows.length < maxLines) {
    const prefix = `${offset + rows.length}\t`;
    room -= prefix.length + (rows.length > 0 ? 1 : 0);
    const lineEnd = endOfLine(bytes, at);
    if (lineEnd - at > room) {
      if (rows.length > 0) break;
      const part = bytes.toString("utf8", at, characterStart(bytes, at + room));
      rows.push(prefix + part);
      const cutAt = begin.charOffset + part.length;
      return page({ cutAt, next: { offset, charOffset: cutAt } });
    }
    rows.push(prefix + bytes.toString("utf8", at, lineEnd));
    room -= lineEnd - at;
    if (lineEnd === bytes.length) return page({});
    at = lineEnd + 1;
  }
  return page({ next: { offset: offset + rows.length, charOffset: 0 } });
}

/** Counts the characters of a line; null when there is no such line. */
export function lineChars(bytes: Uint8Array, line: number): number | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = lineStart(buffer, line);
  return start === null ? null : buffer.toString("utf8", start, endOfLine(buffer, start)).length;
}

function endOfLine(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(LINE_FEED, from);
  return end < 0 ? bytes.length : end;
}

/** Finds the start of the character at `charOffset`; for the second half of a surrogate pair, the start of the pair. */
function seek(
  bytes: Buffer,
  start: number,
  end: number,
  charOffset: number,
): { at: number; charOffset: number } | null {
  let chars = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (isContinuation(byte)) continue;
    const units = byte >= 0xf0 ? 2 : 1;
    if (chars + units > charOffset) return { at, charOffset: chars };
    chars += units;
  }
  return charOffset === chars ? { at: end, charOffset } : null;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
