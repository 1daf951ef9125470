import { characterStart } from "@holdfast/core/plugin-kit";

/** Some lines of a file. */
export interface LineBlock {
  /** Number of the first line, from 1. */
  readonly firstLine: number;
  /** The last line may continue in the next block, which then begins with the same number. */
  readonly lines: readonly string[];
}

/** Bytes that are decoded at once, in a few milliseconds. */
const BLOCK_BYTES = 65_536;
const LINE_FEED = 0x0a;

/**
 * Yields the lines of a file from the byte `from` on, block by block; lines before it are only counted. A block without lines
 * is a place to yield to other work.
 */
export function* lineBlocks(bytes: Uint8Array, from: number): Generator<LineBlock, void, void> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let line = 1;
  let at = 0;
  while (at < from) {
    const end = Math.min(from, at + BLOCK_BYTES);
    line += countLineFeeds(buffer, at, end);
    at = end;
    yield { firstLine: line, lines: [] };
  }
  at = from === 0 ? 0 : characterStart(buffer, from);
  while (at < buffer.length) {
    const end = blockEnd(buffer, at);
    const lines = buffer.toString("utf8", at, end).split("\n");
    const firstLine = line;
    line += lines.length - 1;
    at = end;
    // An empty rest after the last line feed is not a line yet.
    if (lines.at(-1) === "") lines.pop();
    yield { firstLine, lines };
  }
}

/** Returns the index after the last line feed of the block, or between two characters of a longer line. */
function blockEnd(bytes: Buffer, at: number): number {
  const most = at + BLOCK_BYTES;
  if (most >= bytes.length) return bytes.length;
  const lineFeed = bytes.lastIndexOf(LINE_FEED, most - 1);
  return lineFeed < at ? characterStart(bytes, most) : lineFeed + 1;
}

function countLineFeeds(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (bytes[at] === LINE_FEED) count++;
  return count;
}
