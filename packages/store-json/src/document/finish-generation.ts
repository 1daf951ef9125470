import { join } from "node:path";
import { type Disk, removeFile, removeStaleTemporaries } from "../io/disk.js";
import { ioReason } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { listGenerations, snapshotName } from "./generation.js";
import type { Place } from "./place.js";
import type { Position } from "./position.js";
import { readDocument } from "./read-document.js";
import { encodeSnapshot } from "./snapshot.js";

/**
 * Starts the generation after one that has ended: writes what the document was at its end, puts that in place in one
 * step, then removes the old files. Any process may do it, also several at once and after another one died half-way.
 *
 * @returns the position in the new generation, or null when it has to be read: somebody else started it
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
  // A process that stood still for long may have put a start in place that is past by now.
  const current = (await listGenerations(place.directory))?.current;
  if (!published || current?.number !== generation) return null;
  chain.state = "open";
  chain.past = new Set([chain.revision]);
  return {
    generation,
    snapshotBytes: snapshot.length,
    inode: null,
    offset: 0,
    chain,
    namesSynced: true,
    outdated: false,
    hasLeftovers: false,
  };
}

/** Removes the files of past generations and what dead processes left. The current generation must be durable. */
export async function removePast(place: Place): Promise<void> {
  const listing = await listGenerations(place.directory);
  if (listing === null) return;
  for (const name of listing.leftovers) await removeFile(join(place.directory, name));
  await removeStaleTemporaries(place.directory, listing.names);
}

/** Makes the current generation durable and does {@link removePast}; leaving something for the next is no failure. */
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
