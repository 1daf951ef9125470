import { constants } from "node:fs";
import { chmod, type FileHandle, open, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { hasIoCode } from "@holdfast/workspace/filesystem-kit";
import type { SandboxUser } from "../options.js";

/** Linux: opens a handle that only refers to a file, so that it needs no permission and never blocks. */
const O_PATH = 0o10000000;

/**
 * Runs `work`; if permission is denied, grants the owner access to `entry` and runs `work` once more. Commands may remove
 * permissions from their own files, which still have to be read and removed.
 */
export async function withAccess<T>(entry: string | Buffer, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!hasIoCode(error, "EACCES")) throw error;
    await makeAccessible(entry);
    return work();
  }
}

/** Grants the owner access to a file or directory; leaves a link and its target alone. */
export async function makeAccessible(entry: string | Buffer): Promise<void> {
  await withPinnedPath(entry, async (handle, path) => {
    const stats = await handle.stat();
    const mode = stats.isDirectory() ? 0o700 : stats.isFile() ? 0o600 : 0;
    if (mode !== 0) await chmod(path, (stats.mode & 0o777) | mode);
  });
}

/** Calls `work` with a path that keeps referring to the same file even if its name is replaced meanwhile. */
export async function withPinnedPath(
  entry: string | Buffer,
  work: (handle: FileHandle, path: string) => Promise<void>,
): Promise<void> {
  const handle = await open(entry, O_PATH | constants.O_NOFOLLOW);
  try {
    await work(handle, `/proc/self/fd/${handle.fd}`);
  } finally {
    await handle.close();
  }
}

/** Resolves to null where a file was removed or replaced meanwhile, or this process may not access it. */
export async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (hasIoCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return null;
    throw error;
  }
}

/** Returns true when a user without supplementary groups may traverse a directory and all of its parents. */
export async function canTraverse(directory: string, { uid, gid }: SandboxUser): Promise<boolean> {
  if (uid === 0) return true;
  for (let here = await realpath(directory); ; here = dirname(here)) {
    const stats = await stat(here);
    const execute = stats.uid === uid ? 0o100 : stats.gid === gid ? 0o010 : 0o001;
    if ((stats.mode & execute) === 0) return false;
    if (here === dirname(here)) return true;
  }
}
