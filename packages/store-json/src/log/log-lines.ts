import type { FileHandle } from "node:fs/promises";
import { readStretch } from "../io/read-stretch.js";

/** A line of a log, without its line end. Never empty. */
export interface LogLine {
  /** Offset of its first byte. */
  readonly start: number;
  readonly bytes: Buffer;
  /** Whether a line end follows. Without one it is a write under way, or one cut short. */
  readonly ended: boolean;
}

const LINE_END = 10;
/** Most lines are shorter. */
const NEAR_BYTES = 4_096;
const FIRST_CHUNK = 65_536;
const LARGEST_CHUNK = 1_048_576;

/**
 * The lines of `[from, to)`, newest first, a chunk's lines at a time. Reads no more than the chunks asked for.
 *
 * @param from - offset of a line start
 */
export async function* linesBackward(
  handle: FileHandle,
  from: number,
  to: number,
): AsyncGenerator<LogLine[], void> {
  /** What was read of a line whose start was not, last part first. */
  let parts: Buffer[] = [];
  let ended = false;
  let chunkBytes = FIRST_CHUNK;
  for (let end = to; end > from; chunkBytes = Math.min(chunkBytes * 2, LARGEST_CHUNK)) {
    const start = Math.max(from, end - chunkBytes);
    const chunk = await readStretch(handle, start, end);
    const lines: LogLine[] = [];
    let lineEnd = chunk.length;
    while (lineEnd > 0) {
      const at = chunk.lastIndexOf(LINE_END, lineEnd - 1);
      if (at === -1) break;
      const bytes = joined([...parts, chunk.subarray(at + 1, lineEnd)].reverse());
      if (bytes.length > 0) lines.push({ start: start + at + 1, bytes, ended });
      parts = [];
      ended = true;
      lineEnd = at;
    }
    if (lineEnd > 0) parts.push(chunk.subarray(0, lineEnd));
    if (start === from && parts.length > 0)
      lines.push({ start: from, bytes: joined(parts.reverse()), ended });
    if (lines.length > 0) yield lines;
    end = start;
  }
}

/**
 * The lines of `[from, to)`, oldest first, a chunk's lines at a time.
 *
 * @param from - offset of a line start
 */
export async function* linesForward(
  handle: FileHandle,
  from: number,
  to: number,
): AsyncGenerator<LogLine[], void> {
  let parts: Buffer[] = [];
  let lineStart = from;
  let chunkBytes = FIRST_CHUNK;
  for (let start = from; start < to; chunkBytes = Math.min(chunkBytes * 2, LARGEST_CHUNK)) {
    const chunk = await readStretch(handle, start, Math.min(to, start + chunkBytes));
    if (chunk.length === 0) break;
    const lines: LogLine[] = [];
    let rest = 0;
    for (let at = chunk.indexOf(LINE_END); at !== -1; at = chunk.indexOf(LINE_END, rest)) {
      const bytes = joined([...parts, chunk.subarray(rest, at)]);
      if (bytes.length > 0) lines.push({ start: lineStart, bytes, ended: true });
      parts = [];
      rest = at + 1;
      lineStart = start + rest;
    }
    if (rest < chunk.length) parts.push(chunk.subarray(rest));
    start += chunk.length;
    if (start >= to && parts.length > 0)
      lines.push({ start: lineStart, bytes: joined(parts), ended: false });
    if (lines.length > 0) yield lines;
  }
}

/** The first line start at or beyond `offset`; `size` when there is none. */
export async function lineStartFrom(
  handle: FileHandle,
  offset: number,
  size: number,
): Promise<number> {
  if (offset <= 0) return 0;
  // Mostly it is one, and the line before it ends right there.
  for (let start = offset - 1, bytes = 1; start < size; bytes = FIRST_CHUNK) {
    const chunk = await readStretch(handle, start, Math.min(size, start + bytes));
    const at = chunk.indexOf(LINE_END);
    if (at !== -1) return start + at + 1;
    start += bytes;
  }
  return size;
}

/** Where the line starts that holds the byte at `offset`; not before `from`, which is a line start. */
export async function lineStartBefore(
  handle: FileHandle,
  offset: number,
  from: number,
): Promise<number> {
  let chunkBytes = NEAR_BYTES;
  for (let end = offset; end > from; chunkBytes = FIRST_CHUNK) {
    const start = Math.max(from, end - chunkBytes);
    const at = (await readStretch(handle, start, end)).lastIndexOf(LINE_END);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return from;
}

/** The line that starts at `start`, or null when nothing does. */
export async function lineAt(
  handle: FileHandle,
  start: number,
  size: number,
): Promise<LogLine | null> {
  for await (const lines of linesForward(handle, start, size)) return lines[0] ?? null;
  return null;
}

function joined(parts: readonly Buffer[]): Buffer {
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
}
