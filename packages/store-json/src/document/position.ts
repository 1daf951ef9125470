import type { BigIntStats } from "node:fs";
import { type FileHandle, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { atRest, type Chain, changeHead, follow, headFields, type Verdict } from "./chain.js";
import { journalName, listGenerations } from "./generation.js";
import type { Place } from "./place.js";
import { readJournal } from "./read-journal.js";
import type { JournalRecord } from "./record.js";

/** How far a document has been read: small, without its contents, so that many can be kept. */
export interface Position {
  readonly generation: number;
  /** Size of the file the generation started from. */
  readonly snapshotBytes: number;
  /** Which file the journal was; null while there is none. */
  inode: bigint | null;
  /** Where the next line starts. */
  offset: number;
  readonly chain: Chain;
  /** Whether this process made the names of this generation's files durable in their directory. */
  namesSynced: boolean;
  /** Set when a record named a revision the chain has forgotten: only reading it all again tells what to make of it. */
  outdated: boolean;
  /** Whether files of earlier generations were seen beside this one's. */
  hasLeftovers: boolean;
}

/**
 * Whether nothing was saved since: one look at the journal, without reading it.
 *
 * A generation ends with a record in its journal, so a journal that has not grown is still the current one. Where there
 * is none yet, only the directory tells.
 */
export async function isCurrent(place: Place, position: Position): Promise<boolean> {
  const journal = await statFile(join(place.directory, journalName(position.generation)));
  if (position.inode !== null && position.offset > 0)
    return (
      journal !== null && isSame(journal, position) && Number(journal.size) === position.offset
    );
  if (journal !== null && journal.size > 0n) return false;
  const current = (await listGenerations(place.directory))?.current;
  return current?.number === position.generation && current.snapshot === "state";
}

/**
 * Reads what other processes added since, if `handle` is on the journal that the position is about.
 *
 * @returns the size of the file, or null when the position is of no use any more: read anew
 * @throws StateCorruptError
 */
export async function catchUp(
  place: Place,
  position: Position,
  handle: FileHandle,
  report: ReportSink,
): Promise<number | null> {
  const stats = await handle.stat({ bigint: true });
  const size = Number(stats.size);
  if (!isSame(stats, position) || size < position.offset) return null;
  if (size > position.offset) await advance(place, position, handle, size, report, () => {});
  return position.outdated ? null : size;
}

/** Moves the position on to the last line that has ended before `to`, telling `visit` what became of each record. */
export async function advance(
  place: Place,
  position: Position,
  handle: FileHandle,
  to: number,
  report: ReportSink,
  visit: (record: JournalRecord, verdict: Verdict) => void,
): Promise<void> {
  position.offset = await readJournal(
    { place, handle, from: position.offset, to, report },
    (record) => {
      const verdict = follow(position.chain, record);
      if (verdict === "unknown") position.outdated = true;
      if (verdict === "accepted" && record.kind === "save")
        changeHead(position.chain, record.unset, headFields(Object.entries(record.set)));
      visit(record, verdict);
    },
  );
  atRest(position.chain);
}

function isSame(stats: BigIntStats, position: Position): boolean {
  return stats.ino === position.inode;
}

async function statFile(path: string): Promise<BigIntStats | null> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
