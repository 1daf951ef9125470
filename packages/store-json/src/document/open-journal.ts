import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Disk } from "../io/disk.js";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { type Generation, journalName } from "./generation.js";
import type { Place } from "./place.js";
import { catchUp, type Position } from "./position.js";
import { isStillCurrent } from "./read-document.js";

/** A journal open for appending, read to its end. */
export interface OpenJournal {
  readonly position: Position;
  readonly handle: FileHandle;
  /** Its size when it was read: equal to the position's offset unless a write is under way or was cut short. */
  readonly size: number;
}

/**
 * Opens the journal of a position and reads the records added since.
 *
 * @returns null when the position is out of date: read the document again
 * @throws StateCorruptError
 */
export async function openJournal(
  disk: Disk,
  place: Place,
  position: Position,
  report: ReportSink,
): Promise<OpenJournal | null> {
  let handle: FileHandle;
  try {
    handle = await disk.openForAppend(journalPath(place, position.generation), false);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  return keepOpen(handle, async () => {
    const size = await catchUp(place, position, handle, report);
    return size === null ? null : { position, handle, size };
  });
}

/**
 * Opens the journal of a generation that has none yet, or an empty one, and makes sure that the generation is still the
 * current one: a file opened under the name of a past generation must stay empty, since no reader would find its records.
 *
 * @returns null when it is not: read the document again
 */
export async function startJournal(
  disk: Disk,
  place: Place,
  generation: Generation,
  position: Position,
  report: ReportSink,
): Promise<OpenJournal | null> {
  let handle: FileHandle;
  try {
    handle = await disk.openForAppend(journalPath(place, generation.number), true);
  } catch (error) {
    // The directory of a deleted document was removed in between.
    if (isMissing(error)) return null;
    throw error;
  }
  return keepOpen(handle, async () => {
    if (!(await isStillCurrent(place, generation))) return null;
    position.inode = (await handle.stat({ bigint: true })).ino;
    // The name of the snapshot may be durable; that of this file is not.
    position.namesSynced = false;
    const size = await catchUp(place, position, handle, report);
    return size === null ? null : { position, handle, size };
  });
}

async function keepOpen(
  handle: FileHandle,
  use: () => Promise<OpenJournal | null>,
): Promise<OpenJournal | null> {
  let opened: OpenJournal | null = null;
  try {
    opened = await use();
    return opened;
  } finally {
    if (opened === null) await handle.close();
  }
}

function journalPath(place: Place, generation: number): string {
  return join(place.directory, journalName(generation));
}
