import { rename } from "node:fs/promises";
import { join } from "node:path";
import type { Disk } from "../io/disk.js";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { emptyChain } from "./chain.js";
import { type Generation, snapshotName, sweptName } from "./generation.js";
import type { JournalHandles } from "./journal-handles.js";
import { type OpenJournal, openJournal, startJournal } from "./open-journal.js";
import type { Place } from "./place.js";
import { isCurrent, newPosition, type Position } from "./position.js";
import { readDocument } from "./read-document.js";

/** A document that is about to be written. */
export interface OpenDocument {
  readonly position: Position;
  /** Null while the generation's journal does not exist or is empty; see {@link startDocument}. Closed by the caller. */
  journal: OpenJournal | null;
  readonly generation: Generation;
}

/**
 * Brings a document's position up to date and opens its journal.
 *
 * @param known - from last time, if there was one
 * @returns null when the document changed while it was read: try again
 * @throws StateCorruptError | StoreUnavailableError
 */
export async function openDocument(
  handles: JournalHandles,
  place: Place,
  known: Position | undefined,
  report: ReportSink,
): Promise<OpenDocument | null> {
  // An empty journal may be left over from a past generation; one with contents is still the same.
  if (known !== undefined && known.inode !== null && known.offset > 0) {
    const journal = await openJournal(handles, place, known, report);
    if (journal !== null)
      return { position: known, journal, generation: generationOf(known, true) };
  }
  if (known?.offset === 0 && (await isCurrent(place, known)))
    return { position: known, journal: null, generation: generationOf(known, false) };
  const read = await readDocument(place, report);
  if (read === null)
    return { position: newPosition(1, 0, emptyChain()), journal: null, generation: FIRST };
  const { position, generation } = read;
  if (generation.snapshot === "swept") {
    await cancelSweep(place, generation.number);
    return null;
  }
  if (position.offset === 0) return { position, journal: null, generation };
  const journal = await openJournal(handles, place, position, report);
  return journal === null ? null : { position, journal, generation };
}

/**
 * Opens the journal of a document that has none yet.
 *
 * @returns false when its generation is not the current one any more: try again
 */
export async function startDocument(
  disk: Disk,
  handles: JournalHandles,
  place: Place,
  document: OpenDocument,
  report: ReportSink,
): Promise<boolean> {
  const { position, generation } = document;
  const root = place.parents.at(-1) ?? place.directory;
  if (generation.number === 1) await disk.makeDirectory(place.directory, root);
  document.journal = await startJournal(handles, place, generation, position, report);
  return document.journal !== null;
}

const FIRST: Generation = { number: 1, snapshot: null, journal: false };

function generationOf({ generation: number }: Position, journal: boolean): Generation {
  return { number, snapshot: number > 1 ? "state" : null, journal };
}

/** Takes a deleted document's directory back from a process that is about to remove it. */
async function cancelSweep(place: Place, generation: number): Promise<void> {
  try {
    await rename(
      join(place.directory, sweptName(generation)),
      join(place.directory, snapshotName(generation)),
    );
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
