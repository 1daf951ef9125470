import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ioCode, isMissing } from "./io-error.js";

/**
 * When a write counts as done: `"fsync"` when the device has it (survives power loss), `"os"` when the operating system
 * has it (survives the process, not the machine).
 */
export type Durability = "fsync" | "os";

/** Only the owner may read what agents keep. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** As the flag `a+`, but an error when the file is not there. */
const APPEND_EXISTING = constants.O_RDWR | constants.O_APPEND;

const TEMPORARY = /^tmp\.\d+\.[0-9a-f]+$/;
/** A temporary file that old was left by a process that died: writing one takes milliseconds. */
const STALE_AFTER_MS = 3_600_000;

/** Tries to make directories that others keep removing. */
const ATTEMPTS = 20;

/** The file operations that durability and atomicity rest on. */
export class Disk {
  readonly #durable: boolean;

  constructor(durability: Durability) {
    this.#durable = durability === "fsync";
  }

  /** Makes what was written through `handle` durable. */
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

  /** Makes a directory and those above it that are missing; makes the names above `root` durable at once. */
  async makeDirectory(path: string, root: string): Promise<void> {
    const first = await makeAll(path);
    if (first === undefined) return;
    for (let made = root; made.length >= first.length; made = dirname(made))
      await this.syncDirectories(dirname(made));
  }

  /** Opens for reading and appending; `create` makes the file where there is none. */
  openForAppend(path: string, create: boolean): Promise<FileHandle> {
    return open(path, create ? "a+" : APPEND_EXISTING, FILE_MODE);
  }

  /**
   * Puts a whole file in place under a name that must be free, in one step: readers see all of it or nothing.
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

  /** Writes `bytes` to a temporary file that is gone when `use` has ended, unless `use` moved it. */
  async withTemporary<T>(
    directory: string,
    bytes: Uint8Array,
    use: (path: string) => Promise<T>,
  ): Promise<T> {
    const path = join(directory, `tmp.${process.pid}.${randomBytes(8).toString("hex")}`);
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
    }
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

/** Removes temporary files that a dead process left behind. */
export async function removeStaleTemporaries(
  directory: string,
  names?: readonly string[],
): Promise<void> {
  for (const name of names ?? (await readdir(directory))) {
    if (!TEMPORARY.test(name)) continue;
    const path = join(directory, name);
    try {
      if (Date.now() - (await stat(path)).mtimeMs > STALE_AFTER_MS) await unlink(path);
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
}

/** The first of the directories that were missing. */
async function makeAll(path: string): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await mkdir(path, { recursive: true, mode: DIRECTORY_MODE });
    } catch (error) {
      // Node says so also when somebody removes a directory on the way at that moment; a file that is in the way stays.
      if (ioCode(error) !== "ENOTDIR" || attempt === ATTEMPTS) throw error;
    }
  }
}
