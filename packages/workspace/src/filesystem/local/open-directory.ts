import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, open, realpath, stat } from "node:fs/promises";
import { join } from "node:path";

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY;

/** Never through a link, never waiting for the other end of a pipe, never taking over a terminal. */
const FILE_FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Only the owner may read what agents keep. */
const FILE_MODE = 0o600;

/** A directory changed its place while it was in use. */
export class DirectoryMovedError extends Error {
  override readonly name = "DirectoryMovedError";
}

/**
 * A directory held open, so that what is done in it is done in it and in no other, whoever renames or replaces the
 * directories above it meanwhile.
 *
 * On Linux names are looked up from the handle itself (`/proc/self/fd/<n>/<name>` is what `openat` does). Elsewhere they
 * are looked up by path, and after opening something it is checked that it is where it should be.
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

  /** Opens a directory that the program chose; links on the way to it are the program's own and followed. */
  static async open(path: string, isAnchored: boolean = canAnchor()): Promise<OpenDirectory> {
    const real = await realpath(path);
    return new OpenDirectory(await open(real, DIRECTORY_FLAGS), real, isAnchored);
  }

  /** The path of this directory, for the system. */
  get path(): string {
    return this.#isAnchored ? `/proc/self/fd/${this.#handle.fd}` : this.#path;
  }

  /** The path of a name in this directory, for the system. */
  entry(name: string): string {
    return join(this.path, name);
  }

  /** Opens a directory in this one, not through a link. */
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

  /** Opens a file in this directory, not through a link and without waiting for anyone. */
  async openFile(name: string, flags: number): Promise<FileHandle> {
    // A file must not be made elsewhere, so where that can happen the place is checked before too.
    if ((flags & constants.O_CREAT) !== 0) await this.confirm();
    const handle = await open(this.entry(name), flags | FILE_FLAGS, FILE_MODE);
    try {
      await this.confirm();
      if (!this.#isAnchored) await isSame(handle, this.entry(name));
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** When the directory was last changed. */
  async modifiedAt(): Promise<Date> {
    return (await this.#handle.stat()).mtime;
  }

  /**
   * Checks that the path still leads here, where the path is what everything goes by.
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

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

async function isSame(handle: FileHandle, path: string): Promise<void> {
  const [here, there] = await Promise.all([handle.stat(), lstat(path)]);
  if (here.ino !== there.ino || here.dev !== there.dev) throw new DirectoryMovedError();
}

let anchors: boolean | undefined;

function canAnchor(): boolean {
  anchors ??= process.platform === "linux" && existsSync("/proc/self/fd");
  return anchors;
}
