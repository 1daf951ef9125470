import { chmod, chown } from "node:fs/promises";
import { InvalidInputError, StateTooLargeError } from "@holdfast/core";
import type { FileInfo } from "@holdfast/core/plugin-kit";
import {
  closeDirectoryChain,
  DirectoryTree,
  directoryTreePath,
  fileTreePath,
  hasIoCode,
  type OpenDirectory,
  openDirectoryChain,
  statEntry,
} from "@holdfast/workspace/filesystem-kit";
import type { SandboxUser } from "../options.js";
import { type ListTreeOptions, listTree } from "./list-tree.js";
import type { MemoryVolume } from "./memory-volume.js";
import { withPinnedPath } from "./permissions.js";
import { removeTree } from "./remove-tree.js";

/** Options of a {@link ScratchTree}. */
export interface ScratchTreeOptions {
  /** Directory that commands see as `/workspace`, by the path that this process reaches it by. */
  readonly root: string;
  /** Path of the same directory for bubblewrap. @default root */
  readonly mountedFrom?: string | undefined;
  /** Filesystem of fixed size that holds the files; undefined = they are on the disk. */
  readonly volume?: MemoryVolume | undefined;
  readonly maxFileBytes: number;
  /** Owner of the files; undefined = the user of this process. */
  readonly owner?: SandboxUser | undefined;
}

/**
 * Directory of files that commands may be changing. Whatever a command creates there (links, pipes, directories without
 * permissions), nothing outside of it is read or written.
 */
export class ScratchTree {
  readonly root: string;
  readonly mountedFrom: string;
  readonly volume: MemoryVolume | undefined;
  readonly #owner: SandboxUser | undefined;
  readonly #tree: DirectoryTree;

  constructor({ root, maxFileBytes, owner, volume, mountedFrom = root }: ScratchTreeOptions) {
    this.root = root;
    this.mountedFrom = mountedFrom;
    this.volume = volume;
    this.#owner = owner;
    this.#tree = new DirectoryTree({ root, maxFileBytes });
  }

  /** Reads a file; null when there is none. */
  async read(path: string): Promise<Uint8Array | null> {
    return this.#tree.read(fileTreePath([], path));
  }

  /** Replaces a file atomically. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    await unlessFull(this.#tree.write(fileTreePath([], path), bytes));
    await this.#giveToOwner(path, false);
  }

  /** Reads a file; null also for a link, a pipe, a device and a socket. */
  async readIfFile(path: string): Promise<Uint8Array | null> {
    try {
      return await this.read(path);
    } catch (error) {
      if (InvalidInputError.is(error)) return null;
      throw error;
    }
  }

  /**
   * Writes a file of the backing filesystem, which does not store permissions; a program becomes executable again.
   *
   * @returns false for a path that this disk cannot hold or that is taken: commands do not see that file
   */
  async restore(path: string, bytes: Uint8Array): Promise<boolean> {
    try {
      await unlessFull(this.#tree.write(fileTreePath([], path), bytes));
    } catch (error) {
      if (InvalidInputError.is(error)) return false;
      throw error;
    }
    await this.#giveToOwner(path, isProgram(bytes));
    return true;
  }

  /** Appends to a file. */
  async append(path: string, bytes: Uint8Array): Promise<void> {
    await unlessFull(this.#tree.append(fileTreePath([], path), bytes));
    await this.#giveToOwner(path, false);
  }

  /** Removes a file and the directories that this leaves empty. */
  async delete(path: string): Promise<boolean> {
    return this.#tree.delete(fileTreePath([], path));
  }

  /**
   * Lists everything below a path.
   *
   * @throws StateTooLargeError for more than `maxFiles` files and directories
   */
  async list(path: string, options: ListTreeOptions): Promise<readonly FileInfo[]> {
    return listTree(this.root, path, options);
  }

  /** Returns true when the directory exists. */
  async hasDirectory(path: string): Promise<boolean> {
    return this.#tree.has(directoryTreePath([], path));
  }

  /** Removes the tree with everything in it. */
  async remove(): Promise<void> {
    await this.volume?.close();
    await removeTree(this.mountedFrom);
  }

  /** Makes the user that commands run as the owner of a file and of the directories it is in. */
  async #giveToOwner(path: string, isExecutable: boolean): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined && !isExecutable) return;
    const target = fileTreePath([], path);
    const chain = await openDirectoryChain(target, target.segments.slice(0, -1), {
      root: this.root,
    });
    // Removed or replaced meanwhile by a command.
    if (typeof chain === "string") return;
    try {
      if (owner !== undefined)
        for (const directory of chain.slice(1)) await chown(directory.path, owner.uid, owner.gid);
      await giveFileToOwner(
        chain.at(-1) ?? chain[0],
        target.segments.at(-1) ?? "",
        owner,
        isExecutable,
      );
    } finally {
      await closeDirectoryChain(chain);
    }
  }
}

/** @throws StateTooLargeError in place of the error of a filesystem without space */
async function unlessFull(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (!hasIoCode(cause, "ENOSPC", "EDQUOT")) throw error;
    throw new StateTooLargeError(
      "the workspace is full, or the disk that it is on; nothing was changed: delete files and try again",
      { cause: error },
    );
  }
}

async function giveFileToOwner(
  directory: OpenDirectory,
  name: string,
  owner: SandboxUser | undefined,
  isExecutable: boolean,
): Promise<void> {
  if ((await statEntry(directory, name))?.isFile() !== true) return;
  await withPinnedPath(directory.entry(name), async (handle, path) => {
    if (!(await handle.stat()).isFile()) return;
    if (owner !== undefined) await chown(path, owner.uid, owner.gid);
    if (isExecutable) await chmod(path, 0o700);
  });
}

const programMagic = [Buffer.from("#!"), Buffer.from("\x7fELF", "latin1")];

/** Returns true for the content of a script with an interpreter line and for a compiled program. */
function isProgram(bytes: Uint8Array): boolean {
  return programMagic.some((magic) => magic.equals(bytes.subarray(0, magic.length)));
}
