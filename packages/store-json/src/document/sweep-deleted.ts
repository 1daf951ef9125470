import { rename, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeFile } from "../io/disk.js";
import { isOlderThan } from "../io/file-time.js";
import { ioCode, isMissing } from "../io/io-error.js";
import { removeStaleTemporaries } from "../io/stale-temporaries.js";
import { listGenerations, snapshotName, sweptName } from "./generation.js";

/** Age at which a tombstone, the directory of a deleted document, is removed; until then late writers notice the delete. */
const SWEEP_AFTER_MS = 86_400_000;

/**
 * Removes the directory of a document that was deleted long ago.
 *
 * A process may be about to save the document again, in the generation that the snapshot began. So the snapshot is first
 * renamed, which makes such a save read the document again, and is removed only if no journal has appeared by then.
 *
 * @returns true when the directory was removed
 */
export async function sweepDeleted(directory: string): Promise<boolean> {
  try {
    await removeStaleTemporaries(directory);
    const listing = await listGenerations(directory);
    const current = listing?.current;
    // Another file may belong to a process at work: a new journal, a snapshot being written.
    if (!current || listing.names.length !== 1 || current.snapshot === null) return false;
    const state = join(directory, snapshotName(current.number));
    const swept = join(directory, sweptName(current.number));
    const marker = current.snapshot === "state" ? state : swept;
    const { mtimeMs } = await stat(marker);
    // Measured beside the directory, which must hold nothing but the marker.
    if (!(await isOlderThan(dirname(directory), mtimeMs, SWEEP_AFTER_MS))) return false;
    if (marker === state) await rename(state, swept);
    const after = await listGenerations(directory);
    if (after?.names.length !== 1) {
      await rename(swept, state);
      return false;
    }
    await removeFile(swept);
    await rmdir(directory);
    return true;
  } catch (error) {
    // Another process was faster, with sweeping or with saving.
    if (isMissing(error) || ioCode(error) === "ENOTEMPTY") return false;
    throw error;
  }
}
