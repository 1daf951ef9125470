import { characterStart, lineStart } from "@holdfast/core/plugin-kit";

/** Range of lines, from 1, and limits of the page. */
export interface LineRequest {
  readonly startLine: number;
  /** May be past the end. */
  readonly endLine: number;
  readonly maxLines: number;
  /** UTF-8 bytes of the page, numbers included. */
  readonly maxBytes: number;
}

/** Numbered lines of a text. */
export interface LinePage {
  /** Rows `<number>| <line>`, joined by a line feed. */
  readonly text: string;
  readonly lastLine: number;
  /** Bytes of the last line, when it was too long for a page and was cut. */
  readonly cutFrom?: number | undefined;
}

const LINE_FEED = 0x0a;

/** Returns numbered lines of a text in UTF-8, or null when there is no such line. Rows without their number are the text. */
export function pageLines(text: Uint8Array, request: LineRequest): LinePage | null {
  const { startLine, endLine, maxLines, maxBytes } = request;
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  let start: number | null = lineStart(bytes, startLine);
  if (start === null) return null;
  const rows: string[] = [];
  const last = Math.min(endLine, startLine + maxLines - 1);
  let room = maxBytes;
  for (let line = startLine; line <= last && start !== null; line++) {
    const prefix = `${line}| `;
    const found: number = bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    room -= prefix.length + end - start;
    if (room < 0 && rows.length > 0) break;
    if (room < 0) {
      const part = bytes.toString("utf8", start, characterStart(bytes, end + room));
      return { text: prefix + part, lastLine: line, cutFrom: end - start };
    }
    rows.push(prefix + bytes.toString("utf8", start, end));
    room -= 1;
    start = found < 0 ? null : found + 1;
  }
  return { text: rows.join("\n"), lastLine: startLine + rows.length - 1 };
}
