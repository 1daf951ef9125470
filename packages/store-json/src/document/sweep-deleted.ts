import { rename, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeFile, removeStaleTemporaries } from "../io/disk.js";
import { ioCode, isMissing } from "../io/io-error.js";
import { listGenerations, snapshotName, sweptName } from "./generation.js";

/** A deleted document's directory stays that long, so that late writers find out that it was deleted. */
const SWEEP_AFTER_MS = 86_400_000;

/**
 * Removes the directory of a document that was deleted long ago.
 *
 * A process may be about to save the document anew, in the generation that the snapshot began. So the snapshot is first
 * moved aside, which makes such a save fall back to reading anew, and goes only if no journal has appeared by then.
 *
 * @returns whether it is gone
 */
export async function sweepDeleted(directory: string): Promise<boolean> {
  try {
    await removeStaleTemporaries(directory);
    const listing = await listGenerations(directory);
    const current = listing?.current;
    // Another file may be of a process at work: a journal just made, a snapshot being written.
    if (!current || listing.names.length !== 1 || current.snapshot === null) return false;
    const state = join(directory, snapshotName(current.number));
    const swept = join(directory, sweptName(current.number));
    const marker = current.snapshot === "state" ? state : swept;
    if (Date.now() - (await stat(marker)).mtimeMs < SWEEP_AFTER_MS) return false;
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
    // Somebody was faster, with sweeping or with saving anew.
    if (isMissing(error) || ioCode(error) === "ENOTEMPTY") return false;
    throw error;
  }
}
