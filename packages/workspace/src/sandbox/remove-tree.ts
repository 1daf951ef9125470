import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { hasIoCode } from "../filesystem/io-error.js";
import { withAccess } from "./access.js";

const deepest = 32;

/**
 * Removes a directory with everything in it, however deep it goes, whatever rights were taken away and whatever bytes its
 * names are made of. What lies deeper than a path can say is first moved up. Nothing that a link points to is touched.
 */
export async function removeTree(path: string): Promise<void> {
  const shelf = `${path}.${randomUUID()}`;
  await mkdir(shelf, { mode: 0o700 });
  await shelve(Buffer.from(path), shelf);
  for (let names = await namesIn(shelf); names.length > 0; names = await namesIn(shelf))
    for (const name of names) await removeEntry(shelf, name, shelf, 0);
  await rmdir(shelf);
}

async function removeEntry(
  parent: string,
  name: Buffer,
  shelf: string,
  depth: number,
): Promise<void> {
  // Names are bytes: one that is not UTF-8 would not survive as a string.
  const entry = Buffer.concat([Buffer.from(`${parent}/`), name]);
  const stats = await lstat(entry);
  if (!stats.isDirectory()) return unlink(entry);
  if (depth === deepest) return shelve(entry, shelf);
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  const handle = await withAccess(entry, () => open(entry, flags));
  try {
    const here = `/proc/self/fd/${handle.fd}`;
    if ((stats.mode & 0o700) !== 0o700) await chmod(here, 0o700);
    for (const inner of await namesIn(here)) await removeEntry(here, inner, shelf, depth + 1);
  } finally {
    await handle.close();
  }
  await rmdir(entry);
}

async function shelve(entry: Buffer, shelf: string): Promise<void> {
  try {
    await withAccess(entry, () => rename(entry, join(shelf, randomUUID())));
  } catch (error) {
    if (!hasIoCode(error, "ENOENT")) throw error;
  }
}

function namesIn(directory: string): Promise<Buffer[]> {
  return readdir(directory, { encoding: "buffer" });
}
