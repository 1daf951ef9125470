import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { MEMORY_FILE, type MemoryFiles, PREVIOUS_MEMORY_FILE } from "../files/memory-files.js";

/** A file of the memory with its contents. */
export interface MemorySource {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Most files, and most bytes, that are read at once: reading one by one is slow on a remote filesystem. */
const BATCH_FILES = 8;
const BATCH_BYTES = 1_048_576;

/** Yields the files of a memory, `MEMORY.md` first, then the notes, newest first. */
export async function* memorySources(
  files: MemoryFiles,
  namespace: FileNamespace,
): AsyncGenerator<MemorySource, void, void> {
  const memory = await files.readBytes(namespace, MEMORY_FILE);
  if (memory !== null) yield { path: MEMORY_FILE, bytes: memory };
  const notes = (await files.notes(namespace))
    // Its contents are in the notes or were dropped on purpose.
    .filter(({ path }) => path !== PREVIOUS_MEMORY_FILE)
    .sort(byAge);
  for (const batch of batchesOf(notes)) {
    const read = batch.map(async ({ path }) => ({
      path,
      bytes: await files.readBytes(namespace, path),
    }));
    // A file that is gone was archived since it was listed.
    for (const { path, bytes } of await Promise.all(read))
      if (bytes !== null) yield { path, bytes };
  }
}

function* batchesOf(files: readonly FileInfo[]): Generator<FileInfo[], void, void> {
  let batch: FileInfo[] = [];
  let bytes = 0;
  for (const file of files) {
    const isFull = batch.length === BATCH_FILES || bytes + file.bytes > BATCH_BYTES;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(file);
    bytes += file.bytes;
  }
  if (batch.length > 0) yield batch;
}

function byAge(a: FileInfo, b: FileInfo): number {
  const [first, second] = [dayOf(a), dayOf(b)];
  if (first !== second) return first > second ? -1 : 1;
  return a.path > b.path ? -1 : 1;
}

/** Returns the day in the name of a file, or else the day of its last change. */
function dayOf({ path, modifiedAt }: FileInfo): string {
  return /\d{4}-\d{2}-\d{2}/.exec(path)?.[0] ?? modifiedAt.slice(0, 10);
}
