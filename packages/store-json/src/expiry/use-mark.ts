import { readFile, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import type { Slot } from "@holdfast/core";
import { checkSlot } from "@holdfast/core/store-kit";
import { Disk, removeFile } from "../io/disk.js";
import { isOlderThan, modifiedMs, touchFile } from "../io/file-time.js";
import { isMissing } from "../io/io-error.js";

/** First byte of every mark. */
const START = "[";
/** Attempts at writing a mark into a directory that other processes keep removing as empty. */
const ATTEMPTS = 20;

/** A mark that is lost with a power failure is made up for by the times of the session's files. */
const disk = new Disk("os");

/** Time for marks: that of the file system, unless a test gives another. */
export interface MarkTime {
  /** Time of this process, which only says when it is worth looking at a file's. */
  nowMs(): number;
  /** Tells whether a time of a file is longer ago than `ms`. */
  isOlder(mtimeMs: number, ms: number): Promise<boolean>;
  /** Gives a file that begins with `first` the current time. */
  touch(path: string, first: string): Promise<void>;
}

/**
 * Returns the time for marks below a root.
 *
 * @param clock - of tests; all processes of the store must have it
 */
export function markTime(root: string, clock?: () => Date): MarkTime {
  if (clock === undefined)
    return {
      nowMs: Date.now,
      isOlder: (mtimeMs, ms) => isOlderThan(root, mtimeMs, ms),
      touch: touchFile,
    };
  return {
    nowMs: () => clock().getTime(),
    isOlder: async (mtimeMs, ms) => clock().getTime() - mtimeMs > ms,
    touch: (path) => utimes(path, clock(), clock()),
  };
}

/** Returns when a session was last marked as used; null when it has no mark. */
export function markedMs(path: string): Promise<number | null> {
  return modifiedMs(path);
}

/** Marks a session as used: a small file with its ids, whose time is that of the last use. */
export async function writeMark(
  path: string,
  root: string,
  slot: Slot,
  time: MarkTime,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await time.touch(path, START);
    } catch (error) {
      if (!isMissing(error) || attempt === ATTEMPTS) throw error;
    }
    try {
      await disk.makeDirectory(dirname(path), root);
      const { agentId, userId, sessionId } = slot;
      const ids = Buffer.from(JSON.stringify([agentId, userId, sessionId]));
      await disk.publish(dirname(path), path.slice(dirname(path).length + 1), ids);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
}

/** Returns the session that a mark is of; null when it does not say. */
export async function slotOfMark(path: string): Promise<Slot | null> {
  try {
    const [agentId, userId, sessionId] = JSON.parse(await readFile(path, "utf8"));
    return checkSlot({ agentId, userId, sessionId });
  } catch {
    // Empty, as a power loss may leave it, or removed meanwhile.
    return null;
  }
}

/** Removes a mark. */
export async function removeMark(path: string): Promise<void> {
  await removeFile(path);
}
