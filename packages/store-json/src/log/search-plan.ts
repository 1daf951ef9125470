import { stat } from "node:fs/promises";
import { join } from "node:path";
import { inParallel } from "../io/in-parallel.js";
import { isMissing } from "../io/io-error.js";
import type { ScanRange } from "../scan/scan-range.js";
import { refOfBlobFile } from "./blob-files.js";
import { listing, type SessionFile } from "./session-files.js";

/** A session to search. */
export interface PlannedSession {
  readonly file: SessionFile;
  /** Lines that start at or behind this offset are not asked for. */
  readonly to: number;
  /** Whether the files of its long texts are to be looked through. */
  readonly scansBlobs: boolean;
}

/** A part of what is to be looked through. */
export interface PlannedPart {
  readonly session: PlannedSession;
  readonly range: ScanRange;
  /** Of the long text, where it is one. */
  readonly ref: string | null;
}

/** Parts that are looked through together. */
export interface PlannedOrder {
  readonly parts: readonly PlannedPart[];
  readonly bytes: number;
}

/** The first order is small, for what is found in the newest lines; then they grow, for what is found nowhere. */
const FIRST_BYTES = 262_144;
const LARGEST_BYTES = 8_388_608;
const MAX_PARTS = 256;
/** Smaller parts are not worth opening a file for. */
const LEAST_BYTES = 65_536;
/** Blob files looked at side by side. */
const PARALLEL = 16;

/**
 * Cuts the files of sessions into orders: of each its long texts, then its lines from the newest on.
 *
 * @param firstBytes - about how much the first order is to hold
 */
export async function* planSearch(
  sessions: AsyncIterable<PlannedSession>,
  firstBytes: number = FIRST_BYTES,
): AsyncGenerator<PlannedOrder, void> {
  const least = Math.min(LEAST_BYTES, firstBytes);
  let largest = firstBytes;
  let parts: PlannedPart[] = [];
  let bytes = 0;
  for await (const session of sessions)
    for await (const file of filesOf(session))
      for (let to = file.range.to; to > 0; ) {
        const room = Math.max(largest - bytes, least);
        const from = to - room < least ? 0 : to - room;
        parts.push({ ...file, range: { ...file.range, from, to } });
        bytes += to - from;
        to = from;
        if (bytes < largest && parts.length < MAX_PARTS) continue;
        yield { parts, bytes };
        parts = [];
        bytes = 0;
        largest = Math.min(largest * 2, LARGEST_BYTES);
      }
  if (parts.length > 0) yield { parts, bytes };
}

/** Whole files, each as one part. */
async function* filesOf(session: PlannedSession): AsyncGenerator<PlannedPart, void> {
  const { file, to, scansBlobs } = session;
  if (to === 0) return;
  if (scansBlobs && file.blobs !== null) yield* await blobParts(session, file.blobs);
  const seek = file.blobs === null ? "lines" : "lines_and_blobs";
  yield { session, range: { path: file.path, from: 0, to, seek }, ref: null };
}

async function blobParts(session: PlannedSession, directory: string): Promise<PlannedPart[]> {
  const parts = await inParallel(await listing(directory), PARALLEL, async (name) => {
    const ref = refOfBlobFile(name);
    if (ref === null) return [];
    const path = join(directory, name);
    const range: ScanRange = { path, from: 0, to: await sizeOf(path), seek: "blob" };
    return [{ session, range, ref }];
  });
  return parts.flat();
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    // The session was deleted meanwhile.
    if (isMissing(error)) return 0;
    throw error;
  }
}
