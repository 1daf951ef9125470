import { constants } from "node:fs";
import { chmod, type FileHandle, open } from "node:fs/promises";
import { hasIoCode } from "../filesystem/io-error.js";

/** Linux: a handle that names something without opening it, so it needs no rights and waits for nothing. */
const O_PATH = 0o10000000;

/**
 * Runs `work`; where that is not permitted, gives the owner of `entry` the rights to it and runs `work` once more.
 * A command may take its own files' rights away, and they are to be kept and removed all the same.
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

/** Gives its owner the rights to a file or a directory; does nothing to a link or to what a link points to. */
export async function makeAccessible(entry: string | Buffer): Promise<void> {
  await withName(entry, async (handle, path) => {
    const stats = await handle.stat();
    const rights = stats.isDirectory() ? 0o700 : stats.isFile() ? 0o600 : 0;
    if (rights !== 0) await chmod(path, (stats.mode & 0o777) | rights);
  });
}

/** Does something to what stands under a name, by a path that stays with it when the name changes hands. */
export async function withName(
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
