import { rm, rmdir } from "node:fs/promises";
import { UnknownOutcomeError } from "@holdfast/core";
import { type Disk, removeFile } from "../io/disk.js";
import { ioReason, isMissing } from "../io/io-error.js";
import type { LogPlace } from "./log-place.js";

/** Of an anonymous session's directories, nearest first, those that are its own: all below `<root>/sessions`. */
const OWN_DIRECTORIES = 4;

/**
 * Removes the log of a slot and its blobs.
 *
 * @returns true when there was something to remove
 *
 * @throws UnknownOutcomeError when only a part may be removed, or not durably
 */
export async function deleteLog(disk: Disk, place: LogPlace): Promise<boolean> {
  // Records first: a blob without a record is harmless, a record without its blob is damaged.
  const hadRecords = await removeFile(place.file);
  try {
    const hadBlobs = await removeDirectory(place.blobs);
    if (!hadRecords && !hadBlobs) return false;
    await disk.syncDirectories(place.directory);
  } catch (error) {
    // Otherwise another delete removed the empty directory.
    if (!isMissing(error))
      throw new UnknownOutcomeError(
        `could not sync the deletion of ${place.label} to the disk (${ioReason(error)}): delete it again`,
        { cause: error },
      );
  }
  if (place.slot.userId === null) await removeEmpty(place.directories.slice(0, OWN_DIRECTORIES));
  return true;
}

async function removeDirectory(path: string): Promise<boolean> {
  try {
    await rm(path, { recursive: true, maxRetries: 3, retryDelay: 10 });
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Every anonymous session has directories of its own; without this they would pile up. */
async function removeEmpty(directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    try {
      await rmdir(directory);
    } catch {
      // Something else is in it, or was put there meanwhile.
      return;
    }
  }
}
