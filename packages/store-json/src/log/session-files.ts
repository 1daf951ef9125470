import { stat } from "node:fs/promises";
import { join } from "node:path";
import { namesIn } from "../io/disk.js";
import { inParallel } from "../io/in-parallel.js";
import { isMissing } from "../io/io-error.js";
import { blobsName, isLogName } from "./log-place.js";

/** The file of a session's log, as of a listing. */
export interface SessionFile {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly writtenMs: number;
  /** Directory of its blobs; null when there is none. */
  readonly blobs: string | null;
}

/** Files read in parallel. */
const PARALLEL = 16;

/** Returns the log files in a directory, most recently updated first; none when it does not exist. */
export async function sessionFiles(directory: string): Promise<SessionFile[]> {
  const names = await namesIn(directory);
  const all = new Set(names);
  const files = await inParallel(names.filter(isLogName), PARALLEL, (name) =>
    sessionFile(directory, name, all.has(blobsName(name))),
  );
  return files.filter((file) => file !== null).sort(compareFiles);
}

/** Returns a log file; null when it does not exist. */
export async function sessionFile(
  directory: string,
  name: string,
  hasBlobs: boolean,
): Promise<SessionFile | null> {
  const path = join(directory, name);
  try {
    const { size, mtimeMs } = await stat(path);
    const blobs = hasBlobs ? join(directory, blobsName(name)) : null;
    return { path, name, size, writtenMs: mtimeMs, blobs };
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Orders files, most recently updated first; of those updated at the same time, by name. */
export function compareFiles(
  one: Pick<SessionFile, "writtenMs" | "name">,
  other: Pick<SessionFile, "writtenMs" | "name">,
): number {
  if (one.writtenMs !== other.writtenMs) return other.writtenMs - one.writtenMs;
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}
