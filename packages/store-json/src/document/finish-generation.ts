import { join } from "node:path";
import { type Disk, removeFile } from "../io/disk.js";
import { ioReason } from "../io/io-error.js";
import { removeStaleTemporaries } from "../io/stale-temporaries.js";
import type { ReportSink } from "../report.js";
import { emptyChain } from "./chain.js";
import { emptyContents } from "./contents.js";
import { listGenerations, snapshotName } from "./generation.js";
import type { Place } from "./place.js";
import { newPosition, type Position } from "./position.js";
import { readDocument } from "./read-document.js";
import { encodeSnapshot } from "./snapshot.js";

/**
 * Starts the generation after one that has ended: creates its snapshot atomically, then removes the old files. Any
 * process may do it, also several at once and after another one died half-way.
 *
 * @returns the position in the new generation, or null when it has to be read because another process started it
 */
export async function finishGeneration(
  disk: Disk,
  place: Place,
  report: ReportSink,
): Promise<Position | null> {
  const read = await readDocument(place, report);
  if (read === null || read.position.chain.state === "open") return null;
  const { position, contents } = read;
  const { chain } = position;
  const generation = position.generation + 1;
  const snapshot = encodeSnapshot(place.ids, generation, chain, contents);
  const published = await disk.publish(place.directory, snapshotName(generation), snapshot);
  await disk.syncDirectories(place.directory);
  await orReport(place, report, () => removePast(place));
  // A process that was suspended for long may have created a snapshot that is out of date by now.
  const current = (await listGenerations(place.directory))?.current;
  if (!published || current?.number !== generation) return null;
  chain.state = "open";
  chain.past = new Set([chain.revision]);
  return { ...newPosition(generation, snapshot.length, chain), namesSynced: true };
}

/**
 * Deletes a document that cannot be read, by starting an empty generation.
 *
 * Unlike a delete that can read the journal, this one cannot end it with a record of its own. A process that knows the
 * document from before it was damaged, and saves it at this moment without holding the gate, would write to files that are
 * being removed; later ones find the new generation.
 *
 * @returns true when there was a document
 */
export async function discardDamaged(disk: Disk, place: Place): Promise<boolean> {
  const current = (await listGenerations(place.directory))?.current;
  if (!current) return false;
  const generation = current.number + 1;
  const chain = { ...emptyChain(), state: "deleted", updatedAt: new Date().toISOString() } as const;
  const nothing = encodeSnapshot(place.ids, generation, chain, emptyContents());
  await disk.publish(place.directory, snapshotName(generation), nothing);
  await disk.syncDirectories(place.directory);
  await removePast(place);
  return true;
}

/** Removes files of past generations and temporary files of dead processes. The current generation must be durable. */
export async function removePast(place: Place): Promise<void> {
  const listing = await listGenerations(place.directory);
  if (listing === null) return;
  for (const name of listing.leftovers) await removeFile(join(place.directory, name));
  await removeStaleTemporaries(place.directory, listing.names);
}

/** Makes the current generation durable and does {@link removePast}; a failure is reported and left to the next save. */
export async function tryRemovePast(disk: Disk, place: Place, report: ReportSink): Promise<void> {
  await orReport(place, report, async () => {
    await disk.syncDirectories(place.directory);
    await removePast(place);
  });
}

async function orReport(
  place: Place,
  report: ReportSink,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    report({
      kind: "cleanup_failed",
      message: `${place.label}: files of an earlier generation could not be removed (${ioReason(error)})`,
      cause: error,
    });
  }
}
