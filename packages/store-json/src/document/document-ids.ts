import { open } from "node:fs/promises";
import { join } from "node:path";
import { StateCorruptError } from "@holdfast/core";
import { readRange } from "../io/read-range.js";
import { type Generation, journalName, listGenerations, snapshotName } from "./generation.js";
import { readDocument } from "./read-document.js";
import type { DocumentIds } from "./record.js";
import { decodeSnapshotTitle } from "./snapshot.js";

/** A snapshot's title and a first record's ids are within this many bytes, as a rule. */
const START_BYTES = 16_384;
const LINE_END = 10;
/** The record of a delete is within this many bytes of the end, when it is the last one. */
const END_BYTES = 512;
/** Not `.`, which stops at line separators that may stand in an id. */
const FIRST_IDS = /^\{"bytes":\d+,"kind":"save","ids":(\[[^\n]*?\]),"prev":null,/m;

/**
 * Returns the ids of the document in a directory by reading a little of its files; null when there is none.
 *
 * For listings: contents are not checked. A file that disappears meanwhile is a system error.
 *
 * @throws StateCorruptError when the files do not say
 */
export async function documentIds(directory: string): Promise<DocumentIds | null> {
  const generation = (await listGenerations(directory))?.current;
  if (!generation) return null;
  const started = await idsInSnapshot(directory, generation);
  if (!generation.journal) return started;
  const journal = join(directory, journalName(generation.number));
  const { start, end } = await readEnds(journal, (bytes) => idsIn(bytes) !== null);
  const ids = started ?? idsIn(start);
  if (ids === null || !end.includes('"kind":"delete"')) return ids;
  // A delete that is not finished yet, or text in a message: only reading the whole document tells.
  const place = { directory, parents: [], ids, label: "a listed document" };
  const read = await readDocument(place, () => undefined);
  return read === null || read.position.chain.revision === null ? null : ids;
}

async function idsInSnapshot(
  directory: string,
  generation: Generation,
): Promise<DocumentIds | null> {
  if (generation.snapshot !== "state") return null;
  const snapshot = join(directory, snapshotName(generation.number));
  const { start } = await readEnds(snapshot, (bytes) => bytes.includes(LINE_END));
  const title = decodeSnapshotTitle(start);
  if (title === null) throw new StateCorruptError("a snapshot has no title");
  return title.deleted ? null : title.ids;
}

function idsIn(start: Buffer): DocumentIds | null {
  const found = FIRST_IDS.exec(start.toString("utf8"))?.[1];
  return found === undefined ? null : (JSON.parse(found) as DocumentIds);
}

/** Reads the start and the end of a file; all of it when the usual start is not enough. */
async function readEnds(
  path: string,
  isEnough: (start: Buffer) => boolean,
): Promise<{ start: Buffer; end: Buffer }> {
  const handle = await open(path, "r");
  try {
    const { size } = await handle.stat();
    let start = await readRange(handle, 0, Math.min(size, START_BYTES));
    // Behind a first record that was cut short, or with very long ids.
    if (size > START_BYTES && !isEnough(start)) start = await readRange(handle, 0, size);
    return { start, end: await readRange(handle, Math.max(0, size - END_BYTES), size) };
  } finally {
    await handle.close();
  }
}
