import type { FileHandle } from "node:fs/promises";
import { readInto, readRange } from "../io/read-range.js";

/** A line of a log, without its line end. Never empty. */
export interface LogLine {
  /** Offset of its first byte. */
  readonly start: number;
  readonly bytes: Buffer;
  /** True when a line end follows. Without one it is a write under way, or one cut short. */
  readonly ended: boolean;
}

const LINE_END = 10;
const FIRST_CHUNK = 65_536;
const LARGEST_CHUNK = 2_097_152;

/** Whole lines that follow one another. */
export interface LogBlock {
  /** Offset of the first line. */
  readonly start: number;
  /** Overwritten when the next block is read. */
  readonly bytes: Buffer;
}

/** A buffer that grows: allocating one per file would cost as much as reading them. */
export class BlockBuffer {
  #bytes: Buffer = Buffer.alloc(0);

  /** Returns a buffer of at least this size, the same one as long as it is large enough. */
  atLeast(bytes: number): Buffer {
    if (this.#bytes.length < bytes) this.#bytes = Buffer.allocUnsafe(bytes);
    return this.#bytes;
  }
}

/**
 * Reads `[from, to)` from its end, in blocks that grow. Reads no more than the blocks asked for.
 *
 * @param from - offset of a line start
 * @param firstBytes - size of the first read
 * @param buffer - to use one for several files
 */
export async function* blocksBackward(
  handle: FileHandle,
  from: number,
  to: number,
  firstBytes: number = FIRST_CHUNK,
  buffer: BlockBuffer = new BlockBuffer(),
): AsyncGenerator<LogBlock, void> {
  /** The end of a line whose start is not read yet. */
  let rest: Buffer = Buffer.alloc(0);
  let chunkBytes = firstBytes;
  for (let end = to; end > from; chunkBytes = Math.min(chunkBytes * 2, LARGEST_CHUNK)) {
    const start = Math.max(from, end - chunkBytes);
    const wanted = end - start;
    const target = buffer.atLeast(wanted + rest.length);
    rest.copy(target, wanted);
    const read = await readInto(handle, target.subarray(0, wanted), start);
    // A file that has become shorter ends here.
    const bytes = target.subarray(0, read < wanted ? read : wanted + rest.length);
    const first = start === from ? 0 : bytes.indexOf(LINE_END) + 1;
    const isWhole = start === from || first > 0;
    rest = isWhole ? bytes.subarray(0, first) : bytes;
    if (isWhole && first < bytes.length)
      yield { start: start + first, bytes: bytes.subarray(first) };
    end = start;
  }
}

/**
 * Reads the lines of `[from, to)`, newest first, a block at a time. Their bytes are overwritten by the next block.
 *
 * @param from - offset of a line start
 */
export async function* linesBackward(
  handle: FileHandle,
  from: number,
  to: number,
): AsyncGenerator<LogLine[], void> {
  for await (const { start, bytes } of blocksBackward(handle, from, to)) {
    const lines: LogLine[] = [];
    for (let at = 0; at < bytes.length; ) {
      const line = lineIn({ start, bytes }, at);
      if (line.bytes.length > 0) lines.push(line);
      at += line.bytes.length + 1;
    }
    yield lines.reverse();
  }
}

/** Returns the line of a block that starts at the index `at`; it may be empty. */
export function lineIn({ start, bytes }: LogBlock, at: number): LogLine {
  const end = bytes.indexOf(LINE_END, at);
  const ended = end !== -1;
  return { start: start + at, bytes: bytes.subarray(at, ended ? end : bytes.length), ended };
}

/**
 * Reads the lines of `[from, to)`, oldest first, a chunk at a time.
 *
 * @param from - offset of a line start
 */
export async function* linesForward(
  handle: FileHandle,
  from: number,
  to: number,
  read: typeof readRange = readRange,
): AsyncGenerator<LogLine[], void> {
  let parts: Buffer[] = [];
  let lineStart = from;
  let chunkBytes = FIRST_CHUNK;
  for (let start = from; start < to; chunkBytes = Math.min(chunkBytes * 2, LARGEST_CHUNK)) {
    const chunk = await read(handle, start, Math.min(to, start + chunkBytes));
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

/** Returns the first line start at or after `offset`; `size` when there is none. */
export async function lineStartFrom(
  handle: FileHandle,
  offset: number,
  size: number,
): Promise<number> {
  if (offset <= 0) return 0;
  // In most cases `offset` is one.
  for (let start = offset - 1, bytes = 1; start < size; bytes = FIRST_CHUNK) {
    const chunk = await readRange(handle, start, Math.min(size, start + bytes));
    const at = chunk.indexOf(LINE_END);
    if (at !== -1) return start + at + 1;
    start += bytes;
  }
  return size;
}

/** Returns the line that starts at `start`; null when there is none. */
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
