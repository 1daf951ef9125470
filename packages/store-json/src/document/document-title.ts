import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { StateCorruptError } from "@holdfast/core";
import { readRange } from "../io/read-range.js";
import { type Generation, journalName, listGenerations, snapshotName } from "./generation.js";
import { infoAtEnd } from "./info-tail.js";
import { readDocument } from "./read-document.js";
import type { DocumentIds } from "./record.js";
import { decodeSnapshotTitle } from "./snapshot.js";

/** A snapshot's title and a first record's ids are within this many bytes, as a rule. */
const START_BYTES = 16_384;
const LINE_END = 10;
/** Not `.`, which stops at line separators that may stand in an id. */
const FIRST_IDS = /^\{"bytes":\d+,"kind":"save","ids":(\[[^\n]*?\]),"prev":null,/m;

/** A document as a listing shows it. */
export interface DocumentTitle {
  readonly ids: DocumentIds;
  /** Facts given with the last save, as JSON. */
  readonly info: string | undefined;
  /** Everything in its directory. */
  readonly names: readonly string[];
}

/**
 * Returns the title of the document in a directory by reading a little of its files; null when there is none.
 *
 * For listings: contents are not checked. A file that disappears meanwhile is a system error.
 *
 * @throws StateCorruptError when the files do not say
 */
export async function documentTitle(directory: string): Promise<DocumentTitle | null> {
  const listing = await listGenerations(directory);
  if (!listing?.current) return null;
  const { current, names } = listing;
  const started = await titleOfSnapshot(directory, current);
  if (!current.journal) return started && { ...started, names };
  const handle = await open(join(directory, journalName(current.number)), "r");
  let ids: DocumentIds | null;
  let info: string | undefined | "unsure";
  try {
    const { size } = await handle.stat();
    ids = started?.ids ?? (await firstIds(handle, size));
    if (ids === null) return null;
    info = size === 0 ? undefined : await infoAtEnd(handle, size);
  } finally {
    await handle.close();
  }
  if (info !== "unsure") return { ids, info: info ?? started?.info, names };
  const place = { directory, parents: [], ids, label: "a listed document" };
  const read = await readDocument(place, () => undefined);
  if (read === null || read.position.chain.revision === null) return null;
  return { ids, info: read.position.chain.info, names };
}

async function titleOfSnapshot(
  directory: string,
  generation: Generation,
): Promise<Omit<DocumentTitle, "names"> | null> {
  if (generation.snapshot !== "state") return null;
  const handle = await open(join(directory, snapshotName(generation.number)), "r");
  try {
    const { size } = await handle.stat();
    const start = await readStart(handle, size, (bytes) => bytes.includes(LINE_END));
    const title = decodeSnapshotTitle(start);
    if (title === null) throw new StateCorruptError("a snapshot has no title");
    return title.deleted ? null : title;
  } finally {
    await handle.close();
  }
}

async function firstIds(handle: FileHandle, size: number): Promise<DocumentIds | null> {
  const start = await readStart(handle, size, (bytes) => idsIn(bytes) !== null);
  return idsIn(start);
}

function idsIn(start: Buffer): DocumentIds | null {
  const found = FIRST_IDS.exec(start.toString("utf8"))?.[1];
  return found === undefined ? null : (JSON.parse(found) as DocumentIds);
}

/** Reads the start of a file; all of it when the usual start is not enough. */
async function readStart(
  handle: FileHandle,
  size: number,
  isEnough: (start: Buffer) => boolean,
): Promise<Buffer> {
  const start = await readRange(handle, 0, Math.min(size, START_BYTES));
  // Behind a first record that was cut short, or with very long ids.
  return size > START_BYTES && !isEnough(start) ? readRange(handle, 0, size) : start;
}
