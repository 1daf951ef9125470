import {
  type BigIntStats,
  fstatSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { isMissing } from "./io-error.js";

/*
 * The system has an open file, the directories above it, and a small directory that was just changed, in memory: it answers at
 * once, and takes a small change at once. To ask another thread for it keeps this one busy for ten times as long. Whatever has to
 * wait for the disk, a sync above all, is left to another thread.
 */

/** Largest read or write that is made at once. */
export const MAX_AT_ONCE = 65_536;

/** Looks at an open file. */
export function statOpen(handle: FileHandle): BigIntStats {
  return fstatSync(handle.fd, { bigint: true });
}

/** Reads bytes of an open file that was just used, by default the first ones; fewer when it is shorter. */
export function readOpen(handle: FileHandle, bytes: number, from = 0): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  return buffer.subarray(0, readSync(handle.fd, buffer, 0, bytes, from));
}

/** Looks at what has the name of an open file by now; undefined when nothing has, or it cannot be told. */
export function statName(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Returns the names in a small directory that was just changed; none when it does not exist. */
export function namesInChanged(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Writes to an open file, with one system call; nothing is durable yet.
 *
 * @param position - @default the end of a file that is open for appending
 * @returns the bytes written
 */
export function writeOpen(
  handle: FileHandle,
  bytes: Buffer,
  position: number | null = null,
): number | Promise<number> {
  const { length } = bytes;
  if (length <= MAX_AT_ONCE) return writeSync(handle.fd, bytes, 0, length, position);
  return handle.write(bytes, 0, length, position).then(({ bytesWritten }) => bytesWritten);
}

/** Gives a file or directory that is in use another name in the same directory. */
export function renameOpen(from: string, to: string): void {
  renameSync(from, to);
}
