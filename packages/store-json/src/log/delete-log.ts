import { rm, rmdir } from "node:fs/promises";
import { UnknownOutcomeError } from "@holdfast/core";
import { type Disk, removeFile } from "../io/disk.js";
import { ioReason, isMissing } from "../io/io-error.js";
import type { LogPlace } from "./log-place.js";

/** Of an anonymous session's directories, nearest first, those that are its own: all below `<root>/sessions`. */
const OWN_DIRECTORIES = 4;

/**
 * Removes the log of a slot and its blobs; whether there was something.
 *
 * @throws UnknownOutcomeError when they may be gone in part, or not for good
 */
export async function deleteLog(disk: Disk, place: LogPlace): Promise<boolean> {
  // Records first: a blob without a record is lost to nobody, a record without its blob is.
  const hadRecords = await removeFile(place.file);
  try {
    const hadBlobs = await removeDirectory(place.blobs);
    if (!hadRecords && !hadBlobs) return false;
    await disk.syncDirectories(place.directory);
  } catch (error) {
    // Otherwise another delete took the empty directory away.
    if (!isMissing(error))
      throw new UnknownOutcomeError(
        `could not make sure that ${place.label} is deleted for good (${ioReason(error)}): delete it again`,
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

/** Every anonymous session has directories of its own; without this they would stay for ever. */
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
