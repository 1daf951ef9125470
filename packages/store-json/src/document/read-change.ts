import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { type Revision, StateCorruptError } from "@holdfast/core";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { journalName } from "./generation.js";
import type { JournalHandles } from "./journal-handles.js";
import { MessageChange } from "./message-change.js";
import type { Place } from "./place.js";
import { adoptJournal, catchUp, type FileState, type Mark, type Position } from "./position.js";
import { readJournal } from "./read-journal.js";
import type { JournalRecord } from "./record.js";

/**
 * Moves a position to the end of its journal and returns what happened to the messages since a known revision, by reading the
 * records behind it and nothing else.
 *
 * @returns null when that does not tell: the revision is not remembered, or the generation has ended. The position may hold no
 *   more; read the document again
 */
export async function readChange(
  handles: JournalHandles,
  place: Place,
  position: Position,
  known: Revision,
  report: ReportSink,
): Promise<MessageChange | null> {
  const mark = position.marks.findLast(({ revision }) => revision === known);
  if (mark === undefined) return null;
  const kept = await handles.kept(place, position);
  const handle = kept?.handle ?? (await openToRead(place, position));
  if (handle === null) return null;
  let change: MessageChange | null = null;
  try {
    change = await changeSince(place, position, mark, { handle, seen: kept ?? undefined }, report);
    return change;
  } catch (error) {
    // Reading the whole document tells what is wrong with it.
    if (StateCorruptError.is(error)) return null;
    throw error;
  } finally {
    if (kept !== null && change !== null) handles.keep(place, position, handle);
    else await handle.close();
  }
}

/** Opens the journal of a position; null when there is none. A disk that refuses writes can still be read. */
async function openToRead(place: Place, { generation }: Position): Promise<FileHandle | null> {
  try {
    return await open(join(place.directory, journalName(generation)), "r");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function changeSince(
  place: Place,
  position: Position,
  mark: Mark,
  { handle, seen }: { handle: FileHandle; seen: FileState | undefined },
  report: ReportSink,
): Promise<MessageChange | null> {
  const change = new MessageChange(mark.revision, mark.count);
  await adoptJournal(position, handle);
  const to = position.offset;
  const take = (record: JournalRecord): void => change.follow(record);
  if (mark.offset < to)
    await readJournal({ place, handle, from: mark.offset, to, report: () => {} }, take);
  const size = await catchUp(place, position, handle, report, take, seen);
  const { state, revision } = position.chain;
  return size !== null && state === "open" && change.revision === revision ? change : null;
}
