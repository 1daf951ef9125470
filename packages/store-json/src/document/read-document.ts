import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { StateCorruptError, StoreUnavailableError } from "@holdfast/core";
import { isMissing } from "../io/io-error.js";
import type { ReportSink } from "../report.js";
import { type Chain, changeHead, emptyChain, follow, headTexts, settle } from "./chain.js";
import { applyRecord, type Contents, emptyContents } from "./contents.js";
import {
  type Generation,
  journalName,
  listGenerations,
  snapshotName,
  sweptName,
} from "./generation.js";
import { corrupt, isOf, type Place, tooNew } from "./place.js";
import { markRevision, newPosition, type Position } from "./position.js";
import { readJournal } from "./read-journal.js";
import type { JournalRecord } from "./record.js";
import { decodeSnapshot } from "./snapshot.js";

/** A document as read from its files. */
export interface StoredDocument {
  readonly position: Position;
  readonly contents: Contents;
  /** The generation it was read from. */
  readonly generation: Generation;
}

/** Attempts before giving up on a document that changes faster than it can be read. */
const ATTEMPTS = 50;

/**
 * Reads a document whole, from the snapshot and the journal of its current generation.
 *
 * @param known - position of the last read; saves a listing while its generation is the current one
 * @returns null when the directory has none: never saved, or removed after a delete
 * @throws StateCorruptError | StoreUnavailableError
 */
export async function readDocument(
  place: Place,
  report: ReportSink,
  known?: Position,
): Promise<StoredDocument | null> {
  if (known !== undefined) {
    const read = await readKnown(place, known, report);
    if (read !== null) return read;
  }
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const listing = await listGenerations(place.directory);
    if (listing === null) return null;
    if (listing.current === null) {
      // Files come and go while a directory is listed: only an empty listing seen twice counts.
      const again = await listGenerations(place.directory);
      if (again === null || again.current === null) return null;
      continue;
    }
    const read = await readGeneration(place, listing.current, report);
    // Files of a generation are only removed once there is a later one, so this read was consistent.
    if (read !== null && (await isStillCurrent(place, listing.current))) {
      if (StateCorruptError.is(read)) throw read;
      read.position.hasLeftovers = listing.leftovers.length > 0;
      return { ...read, generation: listing.current };
    }
    await sleep(Math.min(attempt, 10));
  }
  throw new StoreUnavailableError(
    `cannot read ${place.label}: other processes change it faster than it can be read; try again`,
  );
}

/** Tells whether a generation is still the current one, and starts from the same file. */
export async function isStillCurrent(place: Place, generation: Generation): Promise<boolean> {
  const current = (await listGenerations(place.directory))?.current;
  return current?.number === generation.number && current.snapshot === generation.snapshot;
}

/** Reads the generation of a known position, if it is the current one: its journal is the same file and has not ended. */
async function readKnown(
  place: Place,
  known: Position,
  report: ReportSink,
): Promise<StoredDocument | null> {
  if (known.inode === null || known.offset === 0) return null;
  const number = known.generation;
  const generation = { number, snapshot: number > 1 ? "state" : null, journal: true } as const;
  const read = await readGeneration(place, generation, report);
  if (read === null || StateCorruptError.is(read)) return null;
  const { inode, offset, chain } = read.position;
  if (inode !== known.inode || offset < known.offset || chain.state !== "open") return null;
  return { ...read, generation };
}

async function readGeneration(
  place: Place,
  generation: Generation,
  report: ReportSink,
): Promise<Omit<StoredDocument, "generation"> | StateCorruptError | null> {
  const { number } = generation;
  try {
    const { chain, contents, bytes } = await readStart(place, generation);
    const position = newPosition(number, bytes, chain);
    if (generation.journal) await readOn(place, position, contents, report);
    changeHead(chain, { unset: [], set: headTexts(contents.head) });
    chain.calls = contents.calls.map((record) => ({
      callId: record.callId,
      json: JSON.stringify(record),
    }));
    settle(chain);
    return { position, contents };
  } catch (error) {
    if (isMissing(error)) return null;
    if (StateCorruptError.is(error)) return error;
    throw error;
  }
}

async function readOn(
  place: Place,
  position: Position,
  contents: Contents,
  report: ReportSink,
): Promise<void> {
  const handle = await open(join(place.directory, journalName(position.generation)), "r");
  try {
    const { ino, size, ctimeNs } = await handle.stat({ bigint: true });
    position.inode = ino;
    position.changedNs = ctimeNs;
    position.offset = await readJournal(
      { place, handle, from: 0, to: Number(size), report },
      (record, end) => {
        applyNext(place, position.chain, contents, record);
        markRevision(position, end);
      },
    );
  } finally {
    await handle.close();
  }
}

async function readStart(
  place: Place,
  { number, snapshot }: Generation,
): Promise<{ chain: Chain; contents: Contents; bytes: number }> {
  if (snapshot === null) {
    if (number > 1) throw corrupt(place, `the snapshot of generation ${number} is missing`);
    return { chain: emptyChain(), contents: emptyContents(), bytes: 0 };
  }
  const name = snapshot === "state" ? snapshotName(number) : sweptName(number);
  const bytes = await readFile(join(place.directory, name));
  const decoded = decodeSnapshot(bytes);
  if (decoded === "too_new") throw tooNew(place);
  if (decoded === null || decoded.generation !== number)
    throw corrupt(place, `the snapshot of generation ${number} is not what was written`);
  if (!isOf(place, decoded.ids)) throw corrupt(place, "the snapshot belongs to something else");
  return { chain: decoded.chain, contents: decoded.contents, bytes: bytes.length };
}

function applyNext(place: Place, chain: Chain, contents: Contents, record: JournalRecord): void {
  const verdict = follow(chain, record);
  if (verdict === "unknown")
    throw corrupt(place, "its journal names a revision that is in neither journal nor snapshot");
  if (verdict === "lost") return;
  if (record.kind === "save" && record.prev === null && !isOf(place, record.ids ?? []))
    throw corrupt(place, "its journal belongs to something else");
  try {
    applyRecord(contents, record);
  } catch (error) {
    throw StateCorruptError.is(error) ? corrupt(place, error.message) : error;
  }
}
