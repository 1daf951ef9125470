import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, open, realpath, stat } from "node:fs/promises";
import { join } from "node:path";

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY;

/** Never follow a link, never wait for the other end of a pipe, never take over a terminal. */
const FILE_FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Only the owner may read the files of agents. */
const FILE_MODE = 0o600;

/**
 * Looks at the way to an opened file, where names are looked up by path. Between two system calls a link may be put in place of
 * a directory and taken away again: one look was fooled once in 57,000 attempts by a process that does nothing else.
 */
const LOOKS = 3;

/** Thrown when a directory was moved while it was in use. */
export class DirectoryMovedError extends Error {
  override readonly name = "DirectoryMovedError";
}

/**
 * Directory held open, so that every operation happens in it and in no other, even if the directories above it are
 * renamed or replaced meanwhile.
 *
 * On Linux names are looked up from the handle itself (`/proc/self/fd/<n>/<name>`, equivalent to `openat`). Elsewhere they
 * are looked up by path, and each operation checks that the path still leads to the open directory.
 */
export class OpenDirectory {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #isAnchored: boolean;

  private constructor(handle: FileHandle, path: string, isAnchored: boolean) {
    this.#handle = handle;
    this.#path = path;
    this.#isAnchored = isAnchored;
  }

  /** Opens a directory that the program chose; links on the way to it are followed. */
  static async open(path: string, isAnchored: boolean = canAnchor()): Promise<OpenDirectory> {
    // Looked up from the handle, a directory needs no other name: what a process reaches through /proc may have none.
    const real = isAnchored ? path : await realpath(path);
    return new OpenDirectory(await open(real, DIRECTORY_FLAGS), real, isAnchored);
  }

  /** Path of this directory for system calls. */
  get path(): string {
    return this.#isAnchored ? `/proc/self/fd/${this.#handle.fd}` : this.#path;
  }

  /** Returns the path of a name in this directory for system calls. */
  entry(name: string): string {
    return join(this.path, name);
  }

  /** Opens a directory in this one; does not follow a link. */
  async child(name: string): Promise<OpenDirectory> {
    const handle = await open(this.entry(name), DIRECTORY_FLAGS | constants.O_NOFOLLOW);
    const child = new OpenDirectory(handle, join(this.#path, name), this.#isAnchored);
    try {
      await child.confirm();
      return child;
    } catch (error) {
      await child.close();
      throw error;
    }
  }

  /** Opens a file in this directory; follows no link and never blocks. */
  async openFile(name: string, flags: number): Promise<FileHandle> {
    // A file must not be created elsewhere: where paths are used, this is checked before opening too.
    if ((flags & constants.O_CREAT) !== 0) await this.confirm();
    const handle = await open(this.entry(name), flags | FILE_FLAGS, FILE_MODE);
    try {
      for (let look = 0; look < LOOKS && !this.#isAnchored; look++) {
        await this.confirm();
        await checkSame(handle, this.entry(name));
      }
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Time of the last change of the directory. */
  async modifiedAt(): Promise<Date> {
    return (await this.#handle.stat()).mtime;
  }

  /**
   * Checks that the path still leads to this directory, where names are looked up by path.
   *
   * @throws DirectoryMovedError
   */
  async confirm(): Promise<void> {
    if (this.#isAnchored) return;
    try {
      if ((await realpath(this.#path)) !== this.#path) throw new DirectoryMovedError();
    } catch (error) {
      throw new DirectoryMovedError("the path does not lead to the directory", { cause: error });
    }
    const [here, there] = await Promise.all([this.#handle.stat(), stat(this.#path)]);
    if (here.ino !== there.ino || here.dev !== there.dev) throw new DirectoryMovedError();
  }

  /** Closes the directory. */
  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function checkSame(handle: FileHandle, path: string): Promise<void> {
  const [here, there] = await Promise.all([handle.stat(), lstat(path)]);
  if (here.ino !== there.ino || here.dev !== there.dev) throw new DirectoryMovedError();
}

let anchors: boolean | undefined;

function canAnchor(): boolean {
  anchors ??= process.platform === "linux" && existsSync("/proc/self/fd");
  return anchors;
}
