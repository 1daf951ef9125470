import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { hasIoCode } from "@holdfast/workspace/filesystem-kit";
import { withAccess } from "./permissions.js";

/** Depth at which a directory is moved up before it is removed. */
const MAX_DEPTH = 32;

/**
 * Removes a directory with everything in it, however deep it is, whatever permissions were removed and whatever bytes its
 * names consist of. Directories that are too deep for a path are first moved to a trash directory beside it. The target of
 * a link is never touched.
 */
export async function removeTree(path: string): Promise<void> {
  const trash = `${path}.${randomUUID()}`;
  await mkdir(trash, { mode: 0o700 });
  await moveToTrash(Buffer.from(path), trash);
  for (let names = await namesIn(trash); names.length > 0; names = await namesIn(trash))
    for (const name of names) await removeEntry(trash, name, trash, 0);
  await rmdir(trash);
}

async function removeEntry(
  parent: string,
  name: Buffer,
  trash: string,
  depth: number,
): Promise<void> {
  // Names are bytes: one that is not UTF-8 would be changed by decoding.
  const entry = Buffer.concat([Buffer.from(`${parent}/`), name]);
  const stats = await lstat(entry);
  if (!stats.isDirectory()) return unlink(entry);
  if (depth === MAX_DEPTH) return moveToTrash(entry, trash);
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await withAccess(entry, () => open(entry, flags));
  try {
    const here = `/proc/self/fd/${handle.fd}`;
    if ((stats.mode & 0o700) !== 0o700) await chmod(here, 0o700);
    for (const inner of await namesIn(here)) await removeEntry(here, inner, trash, depth + 1);
  } finally {
    await handle.close();
  }
  await rmdir(entry);
}

async function moveToTrash(entry: Buffer, trash: string): Promise<void> {
  try {
    await withAccess(entry, () => rename(entry, join(trash, randomUUID())));
  } catch (error) {
    if (!hasIoCode(error, "ENOENT")) throw error;
  }
}

function namesIn(directory: string): Promise<Buffer[]> {
  return readdir(directory, { encoding: "buffer" });
}
