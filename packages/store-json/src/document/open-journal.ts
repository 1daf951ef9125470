import type { FileHandle } from "node:fs/promises";
import { StateCorruptError } from "@holdfast/core";
import type { ReportSink } from "../report.js";
import type { Generation } from "./generation.js";
import type { JournalHandles } from "./journal-handles.js";
import type { Place } from "./place.js";
import { adoptJournal, catchUp, type Position } from "./position.js";
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
 */
export async function openJournal(
  handles: JournalHandles,
  place: Place,
  position: Position,
  report: ReportSink,
): Promise<OpenJournal | null> {
  const kept = await handles.kept(place, position);
  const handle = kept?.handle ?? (await handles.open(place, position.generation, false));
  if (handle === null) return null;
  return keepOpen(handle, async () => {
    const seen = kept ?? undefined;
    try {
      const size = await catchUp(place, position, handle, report, undefined, seen);
      return size === null ? null : { position, handle, size };
    } catch (error) {
      // Damage, or a restored journal that has no line where the position is: reading the whole document tells.
      if (StateCorruptError.is(error)) return null;
      throw error;
    }
  });
}

/**
 * Opens the journal of a generation that has none yet, or an empty one, and makes sure that the generation is still the
 * current one: a file opened under the name of a past generation must stay empty, since no reader would find its records.
 *
 * @returns null when it is not: read the document again
 */
export async function startJournal(
  handles: JournalHandles,
  place: Place,
  generation: Generation,
  position: Position,
  report: ReportSink,
): Promise<OpenJournal | null> {
  const handle = await handles.open(place, generation.number, true);
  if (handle === null) return null;
  return keepOpen(handle, async () => {
    if (!(await isStillCurrent(place, generation))) return null;
    position.inode = null;
    await adoptJournal(position, handle);
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
