import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { inParallel } from "../io/in-parallel.js";
import { isMissing } from "../io/io-error.js";
import { isLogName } from "./log-place.js";

/** Files looked at side by side. */
const PARALLEL = 16;

/** The log files in a directory, the one written to last first; none where there is no such directory. */
export async function sessionFiles(directory: string): Promise<string[]> {
  const names = await listing(directory);
  const files = await inParallel(names.filter(isLogName), PARALLEL, async (name) => {
    const path = join(directory, name);
    return { path, writtenMs: await writtenMs(path) };
  });
  return files.sort((one, other) => other.writtenMs - one.writtenMs).map(({ path }) => path);
}

async function listing(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function writtenMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    // Deleted meanwhile; whoever opens it will find that out too.
    if (isMissing(error)) return 0;
    throw error;
  }
}
