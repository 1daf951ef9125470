import { constants } from "node:fs";
import { type FileHandle, lstat, open, opendir } from "node:fs/promises";
import { StateTooLargeError } from "@holdfast/core";
import { hasIoCode } from "../filesystem/io-error.js";
import { withAccess } from "./access.js";

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Directories held open at a time; only a tree that is deep and branches at every level needs more. */
const MOST_OPEN = 200;

/**
 * How many bytes the files below a directory have: all of them, those that no path can name and no listing shows too.
 * Commands may be changing them. Links are not followed.
 *
 * @throws StateTooLargeError for more than `maxFiles` files and directories, or too many in one another
 */
export async function treeUse(root: string, maxFiles: number): Promise<number> {
  const use = new TreeUse(maxFiles);
  const handle = await openDirectory(root);
  if (handle !== null) await use.add(handle);
  return use.bytes;
}

class TreeUse {
  bytes = 0;
  readonly #maxFiles: number;
  #entries = 0;
  #open = 0;

  constructor(maxFiles: number) {
    this.#maxFiles = maxFiles;
  }

  /** Adds what is in a directory, and closes it. */
  async add(directory: FileHandle): Promise<void> {
    let last: FileHandle | null = null;
    try {
      if (++this.#open > MOST_OPEN)
        throw new StateTooLargeError(
          "directories in the workspace are nested too deep; move or delete some",
        );
      const { mode } = await directory.stat();
      // Without the right to enter it nothing is told about what is in it.
      if ((mode & 0o500) !== 0o500) await directory.chmod((mode & 0o777) | 0o700);
      const here = `/proc/self/fd/${directory.fd}`;
      const directories: Buffer[] = [];
      for (const name of await this.#names(here)) {
        const entry = Buffer.concat([Buffer.from(`${here}/`), name]);
        const stats = await unlessGone(lstat(entry));
        if (stats?.isFile()) this.bytes += stats.size;
        if (stats?.isDirectory()) directories.push(entry);
      }
      for (const [index, entry] of directories.entries()) {
        const child = await openDirectory(entry);
        if (index === directories.length - 1) last = child;
        else if (child !== null) await this.add(child);
      }
    } finally {
      this.#open--;
      await directory.close();
    }
    // With its parent closed: a long chain of directories is looked into one by one.
    if (last !== null) await this.add(last);
  }

  /** Names are bytes: one that is not UTF-8 would not survive as a string. */
  async #names(directory: string): Promise<Buffer[]> {
    const names: Buffer[] = [];
    for await (const { name } of await opendir(directory, { encoding: "buffer" as "utf8" })) {
      if (++this.#entries > this.#maxFiles)
        throw new StateTooLargeError(
          `there are more than ${this.#maxFiles} files and directories in the workspace (maxFiles); delete some`,
        );
      names.push(name as unknown as Buffer);
    }
    return names;
  }
}

function openDirectory(entry: string | Buffer): Promise<FileHandle | null> {
  return unlessGone(withAccess(entry, () => open(entry, DIRECTORY_FLAGS)));
}

/** Null where something is gone, has become something else, or is not for this process to see. */
async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (hasIoCode(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return null;
    throw error;
  }
}
