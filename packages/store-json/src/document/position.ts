import type { BigIntStats } from "node:fs";
import { type FileHandle, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Revision, SessionInfo } from "@holdfast/core";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import {
  type Chain,
  changeHead,
  follow,
  type HeadChange,
  headTexts,
  settle,
  type Verdict,
} from "./chain.js";
import { journalName, listGenerations } from "./generation.js";
import type { Place } from "./place.js";
import { readJournal } from "./read-journal.js";
import type { JournalRecord, SaveRecord } from "./record.js";

/**
 * File of a journal, its size and the time of its last change.
 *
 * A restored backup can have the inode of what it replaces, and after another save its size too. No program can set the time,
 * though, only the system; a change that leaves all three as they were would have to fall within one tick of its clock.
 */
export type FileState = Pick<BigIntStats, "ino" | "size" | "ctimeNs">;

/** Revision of a document, and where the records that follow it begin in the journal. */
export interface Mark {
  readonly revision: Revision;
  readonly offset: number;
  /** Number of messages. */
  readonly count: number;
  /** True for a save in the middle of a run. */
  readonly isUnfinished: boolean;
}

/** Revisions from which a change can be read. Saves in the middle of a run go first: no process caches what they left. */
const MARKS_KEPT = 32;

/** Point up to which a document has been read; without its messages, so that many can be cached. */
export interface Position {
  readonly generation: number;
  /** Size of the file the generation started from. */
  readonly snapshotBytes: number;
  /** Inode of the journal; null while there is none. */
  inode: bigint | null;
  /** Time of the journal's last change, as of when it was read: beside writes, `chmod` and `link` change it, and cost a whole read. */
  changedNs: bigint;
  /** Offset of the next line. */
  offset: number;
  readonly chain: Chain;
  /** The last revisions of this generation, newest last. */
  readonly marks: Mark[];
  /** True when this process has synced the directory, and with it the names of this generation's files. */
  namesSynced: boolean;
  /** Set when a record named a revision the chain has forgotten: the document must be read again. */
  outdated: boolean;
  /** True when files of earlier generations were seen. */
  hasLeftovers: boolean;
}

/** Position at the start of a generation. */
export function newPosition(generation: number, snapshotBytes: number, chain: Chain): Position {
  const position: Position = {
    generation,
    snapshotBytes,
    inode: null,
    changedNs: 0n,
    offset: 0,
    chain,
    marks: [],
    namesSynced: false,
    outdated: false,
    hasLeftovers: false,
  };
  markRevision(position, 0);
  return position;
}

/** Remembers where the records that follow the current revision begin. */
export function markRevision({ chain, marks }: Position, offset: number): void {
  const { revision, count, info } = chain;
  if (revision === null || marks.at(-1)?.revision === revision) return;
  if (marks.length === MARKS_KEPT)
    marks.splice(
      Math.max(
        marks.findIndex((mark) => mark.isUnfinished),
        0,
      ),
      1,
    );
  const isUnfinished = info !== undefined && (JSON.parse(info) as SessionInfo).unfinished === true;
  marks.push({ revision, offset, count, isUnfinished });
}

/** Returns what a save changed beside the messages. */
function headChange({ unset, set, call }: SaveRecord): HeadChange {
  return {
    unset,
    set: headTexts(Object.entries(set)),
    call: call && {
      keep: call.keep,
      callId: call.record.callId,
      json: JSON.stringify(call.record),
    },
  };
}

/**
 * Tells whether nothing was saved since, by one `stat` of the journal.
 *
 * A generation ends with a record in its journal, so a journal that has not grown is still the current one. While there
 * is none, the directory is listed.
 */
export async function isCurrent(place: Place, position: Position): Promise<boolean> {
  const journal = await statFile(join(place.directory, journalName(position.generation)));
  if (position.inode !== null && position.offset > 0)
    return journal !== null && isAsRead(journal, position);
  if (journal !== null && journal.size > 0n) return false;
  const current = (await listGenerations(place.directory))?.current;
  return current?.number === position.generation && current.snapshot === "state";
}

/** Tells whether a journal is as the position has it: read to its end, and not changed since. */
export function isAsRead({ ino, size, ctimeNs }: FileState, position: Position): boolean {
  const { inode, offset, changedNs } = position;
  return ino === inode && Number(size) === offset && ctimeNs === changedNs;
}

/**
 * Reads what other processes added since and passes it to `visit`, if `handle` is on the journal that the position is about.
 *
 * @param seen - the file as it was just looked at
 * @returns the size of the file, or null when the position is out of date: read the document again
 * @throws StateCorruptError
 */
export async function catchUp(
  place: Place,
  position: Position,
  handle: FileHandle,
  report: ReportSink,
  visit: (record: JournalRecord, verdict: Verdict) => void = () => {},
  seen?: FileState,
): Promise<number | null> {
  const stats = seen ?? (await handle.stat({ bigint: true }));
  const size = Number(stats.size);
  if (stats.ino !== position.inode || size < position.offset) return null;
  // What was read is still there if nothing changed, or if a record follows it. Bytes that are no record tell nothing.
  let isSame = stats.ctimeNs === position.changedNs;
  if (size > position.offset)
    await advance(place, position, handle, size, report, (record, verdict) => {
      isSame = true;
      visit(record, verdict);
    });
  if (!isSame || position.outdated) return null;
  position.changedNs = stats.ctimeNs;
  return size;
}

/** Takes the journal that another process began, for a position at the start of a generation. */
export async function adoptJournal(position: Position, handle: FileHandle): Promise<void> {
  if (position.inode !== null || position.offset > 0) return;
  const { ino, ctimeNs } = await handle.stat({ bigint: true });
  position.inode = ino;
  position.changedNs = ctimeNs;
  // The name of the snapshot may be durable; that of this file is not.
  position.namesSynced = false;
}

/** Moves the position to the last line that has ended before `to`; `visit` gets each record and its verdict. */
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
    (record, end) => {
      const verdict = follow(position.chain, record);
      if (verdict === "unknown") position.outdated = true;
      if (verdict === "accepted" && record.kind === "save")
        changeHead(position.chain, headChange(record));
      if (verdict === "accepted") markRevision(position, end);
      visit(record, verdict);
    },
  );
  settle(position.chain);
}

async function statFile(path: string): Promise<BigIntStats | null> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
