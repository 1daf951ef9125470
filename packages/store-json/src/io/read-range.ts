import type { FileHandle } from "node:fs/promises";

/** Reads `[from, to)` of a file, or less when the file is shorter. */
export async function readRange(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  return bytes.subarray(0, await readInto(handle, bytes, from));
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
