import type { FileHandle } from "node:fs/promises";
import { MAX_AT_ONCE, readOpen } from "./open-file.js";

/** Reads `[from, to)` of a file, or less when the file is shorter. */
export async function readRange(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  return bytes.subarray(0, await readInto(handle, bytes, from));
}

/** As {@link readRange}, for what was written since this process last read the file: the system has that in memory. */
export async function readAdded(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  return to - from > MAX_AT_ONCE
    ? readRange(handle, from, to)
    : readOpen(handle, Math.max(0, to - from), from);
}

/** Fills a buffer from `from` on; returns how many bytes it read, fewer than fit only where the file ends. */
export async function readInto(handle: FileHandle, bytes: Buffer, from: number): Promise<number> {
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}
