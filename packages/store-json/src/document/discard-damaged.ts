import type { Disk } from "../io/disk.js";
import { emptyChain } from "./chain.js";
import { emptyContents } from "./contents.js";
import { removePast } from "./finish-generation.js";
import { listGenerations, snapshotName } from "./generation.js";
import type { Place } from "./place.js";
import { encodeSnapshot } from "./snapshot.js";

/**
 * Deletes a document that cannot be read: a generation that starts from nothing takes the place of the damaged one.
 *
 * Unlike a delete that can read the journal, this one cannot end it with a record of its own. A process that knows the
 * document from before it was damaged, and saves it at this very moment past the gate, would write to files on their way
 * out; later ones find the new generation.
 *
 * @returns whether there was anything
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
