import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ioCode, isMissing } from "./io-error.js";

/**
 * Moment at which a write counts as done: `"fsync"`, when the device has it (survives power loss); `"os"`, when the
 * operating system has it (survives the process, not the machine).
 */
export type Durability = "fsync" | "os";

/** Only the owner may read the files. */
export const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** Like the flag `a+`, but fails when the file does not exist. */
const APPEND_EXISTING = constants.O_RDWR | constants.O_APPEND;

/** Paths of the temporary files that this process uses right now. */
const ownTemporaries = new Set<string>();

/** Tells whether a temporary file with the pid of this process is in use; otherwise a process before it left it. */
export function isOwnTemporary(path: string): boolean {
  return ownTemporaries.has(path);
}

/** Returns a path for a temporary file, which nothing has. */
export function temporaryPath(directory: string): string {
  return join(directory, `tmp.${process.pid}.${randomBytes(8).toString("hex")}`);
}

/** Attempts at creating directories that other processes keep removing. */
const ATTEMPTS = 1_000;

/** The file operations that durability and atomicity rest on. */
export class Disk {
  readonly #durable: boolean;

  constructor(durability: Durability) {
    this.#durable = durability === "fsync";
  }

  /** Makes the data written through `handle` durable. */
  async syncData(handle: FileHandle): Promise<void> {
    if (this.#durable) await handle.datasync();
  }

  /** Makes creations, links and removals in these directories durable. */
  async syncDirectories(...paths: readonly string[]): Promise<void> {
    // Windows has no handle on a directory to sync; its file system journals names by itself.
    if (!this.#durable || process.platform === "win32") return;
    for (const path of paths) {
      const handle = await open(path, "r");
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
  }

  /**
   * Creates a directory and its missing parents, and makes their names durable down to `root`.
   *
   * @returns true when the directory was missing
   */
  async makeDirectory(path: string, root: string): Promise<boolean> {
    const first = await makeAll(path);
    if (first === undefined) return false;
    for (let made = root; made.length >= first.length; made = dirname(made))
      await this.syncDirectories(dirname(made));
    return true;
  }

  /** Opens a file for reading and appending; `create` creates it when it does not exist. */
  openForAppend(path: string, create: boolean): Promise<FileHandle> {
    return open(path, create ? "a+" : APPEND_EXISTING, FILE_MODE);
  }

  /**
   * Creates a file atomically, under a name that must be free: readers see all of it or nothing.
   *
   * The name is not durable until its directory is synced.
   *
   * @returns whether the name was free; when it was not, nothing changed
   */
  async publish(directory: string, name: string, bytes: Uint8Array): Promise<boolean> {
    return this.withTemporary(directory, bytes, async (temporary) => {
      try {
        await link(temporary, join(directory, name));
        return true;
      } catch (error) {
        if (ioCode(error) === "EEXIST") return false;
        throw error;
      }
    });
  }

  /** Writes `bytes` to a temporary file, which is removed when `use` has ended, unless `use` renamed it. */
  async withTemporary<T>(
    directory: string,
    bytes: Uint8Array,
    use: (path: string) => Promise<T>,
  ): Promise<T> {
    const path = temporaryPath(directory);
    ownTemporaries.add(path);
    try {
      const handle = await open(path, "wx", FILE_MODE);
      try {
        await handle.writeFile(bytes);
        if (this.#durable) await handle.sync();
      } finally {
        await handle.close();
      }
      return await use(path);
    } finally {
      await removeFile(path).catch(() => undefined);
      ownTemporaries.delete(path);
    }
  }
}

/** Returns the names in a directory; none when it does not exist. */
export async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Removes a file; false when there was none. */
export async function removeFile(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Returns the topmost directory that was missing. */
async function makeAll(path: string): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await mkdir(path, { recursive: true, mode: DIRECTORY_MODE });
    } catch (error) {
      // Node also fails like this when another process removes a parent at that moment.
      if (ioCode(error) !== "ENOTDIR" || attempt === ATTEMPTS || (await hasFileAt(path)))
        throw error;
    }
  }
}

/** Tells whether a path, or the nearest of its parents that exists, is something else than a directory. */
async function hasFileAt(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isDirectory();
  } catch {
    return path !== dirname(path) && hasFileAt(dirname(path));
  }
}
