import { type FileHandle, open, stat } from "node:fs/promises";
import { Disk } from "./disk.js";
import { isMissing } from "./io-error.js";

/**
 * Ages of files, by the clock that gives them their times: the system's. The clocks of two processes may be hours apart, so the
 * time of a file is never compared with the clock of a process alone.
 */

const disk = new Disk("os");

/** Returns the time that a file written in this directory gets now; in the far past when none can be written. */
async function fileTimeMs(directory: string): Promise<number> {
  const timeMs = await disk.withTemporary(directory, Buffer.alloc(0), modifiedMs).catch(() => null);
  return timeMs ?? Number.NEGATIVE_INFINITY;
}

/**
 * Tells whether a file with this time is older than `ms`. The clock of this process only says when it is worth looking.
 *
 * @param directory - one on the same file system, in which a file may be written
 */
export async function isOlderThan(
  directory: string,
  mtimeMs: number,
  ms: number,
): Promise<boolean> {
  if (Date.now() - mtimeMs <= ms) return false;
  return (await fileTimeMs(directory)) - mtimeMs > ms;
}

/** Returns the time at which a file was last written; null when there is none. */
export async function modifiedMs(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * Gives a file the current time, by writing its first byte again: a time that is set explicitly would be that of this process.
 *
 * @param first - the byte it begins with
 */
export async function touchFile(path: string, first: string): Promise<void> {
  const handle: FileHandle = await open(path, "r+");
  try {
    await handle.write(first, 0, "utf8");
  } finally {
    await handle.close();
  }
}
