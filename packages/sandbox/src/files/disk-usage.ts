import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, opendir } from "node:fs/promises";
import { StateTooLargeError } from "@holdfast/core";
import { tooManyFiles } from "./list-tree.js";
import { unlessGone, withAccess } from "./permissions.js";

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Directories held open at a time; only a tree that is deep and branches at every level needs more. */
const MAX_OPEN = 200;
const BLOCK_BYTES = 512;

/** Space that a tree of files takes. */
export interface TreeUsage {
  readonly bytes: number;
  /** Files and directories. */
  readonly files: number;
}

/**
 * Adds up what all files below a directory take, including those that no path can name and no listing shows: their size,
 * or the blocks allocated to them where that is more. A file with several names counts once. Commands may be changing
 * them. Links are not followed.
 *
 * @throws StateTooLargeError for more than `maxFiles` files and directories, or directories nested too deep
 */
export async function diskUsage(root: string, maxFiles: number): Promise<TreeUsage> {
  const usage = new DiskUsage(maxFiles);
  const handle = await openDirectory(root);
  if (handle !== null) await usage.add(handle);
  return { bytes: usage.bytes, files: usage.files };
}

class DiskUsage {
  bytes = 0;
  files = 0;
  readonly #maxFiles: number;
  readonly #linked = new Set<number>();
  #open = 0;

  constructor(maxFiles: number) {
    this.#maxFiles = maxFiles;
  }

  /** Adds the files below a directory, and closes it. */
  async add(directory: FileHandle): Promise<void> {
    let last: FileHandle | null = null;
    try {
      if (++this.#open > MAX_OPEN)
        throw new StateTooLargeError(
          "directories in the workspace are nested too deep; move or delete some",
        );
      const { mode } = await directory.stat();
      // Without permission to enter it, nothing can be learned about its content.
      if ((mode & 0o500) !== 0o500) await directory.chmod((mode & 0o777) | 0o700);
      const here = `/proc/self/fd/${directory.fd}`;
      const directories: Buffer[] = [];
      for (const name of await this.#names(here)) {
        const entry = Buffer.concat([Buffer.from(`${here}/`), name]);
        const stats = await unlessGone(lstat(entry));
        if (stats?.isDirectory()) directories.push(entry);
        else if (stats !== null) this.#count(stats);
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
    // After its parent was closed, so that a long chain of directories needs one handle at a time.
    if (last !== null) await this.add(last);
  }

  #count({ ino, nlink, size, blocks }: Stats): void {
    if (nlink > 1 && this.#linked.has(ino)) return;
    if (nlink > 1) this.#linked.add(ino);
    this.bytes += Math.max(size, blocks * BLOCK_BYTES);
  }

  /** Returns names as bytes: one that is not UTF-8 would be changed by decoding. */
  async #names(directory: string): Promise<Buffer[]> {
    const names: Buffer[] = [];
    for await (const { name } of await opendir(directory, { encoding: "buffer" as "utf8" })) {
      if (++this.files > this.#maxFiles) throw tooManyFiles(this.#maxFiles);
      names.push(name as unknown as Buffer);
    }
    return names;
  }
}

function openDirectory(entry: string | Buffer): Promise<FileHandle | null> {
  return unlessGone(withAccess(entry, () => open(entry, DIRECTORY_FLAGS)));
}
