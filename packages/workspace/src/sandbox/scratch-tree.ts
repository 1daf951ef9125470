import { chmod, chown } from "node:fs/promises";
import { InvalidInputError } from "@holdfast/core";
import type { FileInfo } from "@holdfast/core/plugin-kit";
import { DirectoryTree } from "../filesystem/local/directory-tree.js";
import type { OpenDirectory } from "../filesystem/local/open-directory.js";
import { directoryPlace, filePlace } from "../filesystem/local/place.js";
import { closeAll, statEntry, walk } from "../filesystem/local/walk.js";
import { withName } from "./access.js";
import { isProgram } from "./is-program.js";
import { type ListTreeOptions, listTree } from "./list-tree.js";
import type { SandboxUser } from "./options.js";

/** Where a tree is and whose its files are. */
export interface ScratchTreeOptions {
  /** The directory that commands see as `/workspace`. */
  readonly root: string;
  readonly maxFileBytes: number;
  /** Files are given to this user; undefined = they stay this process's own. */
  readonly owner?: SandboxUser | undefined;
}

/**
 * The files of one namespace while commands may work among them. Whatever a command plants there (links, pipes,
 * directories without rights), nothing outside is read or written.
 */
export class ScratchTree {
  readonly root: string;
  readonly #owner: SandboxUser | undefined;
  readonly #tree: DirectoryTree;

  constructor({ root, maxFileBytes, owner }: ScratchTreeOptions) {
    this.root = root;
    this.#owner = owner;
    this.#tree = new DirectoryTree({ root, maxFileBytes });
  }

  async read(path: string): Promise<Uint8Array | null> {
    return this.#tree.read(filePlace([], path));
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#tree.write(filePlace([], path), bytes);
    await this.#handOver(path, false);
  }

  /** As `read`, but null also for a link and for what is no file. */
  async readIfFile(path: string): Promise<Uint8Array | null> {
    try {
      return await this.read(path);
    } catch (error) {
      if (InvalidInputError.is(error)) return null;
      throw error;
    }
  }

  /**
   * Writes a file that is kept without its rights; a program can be run again. False for one whose name a disk cannot
   * hold, or whose place is taken: it stays where it is kept, and commands do not see it.
   */
  async restore(path: string, bytes: Uint8Array): Promise<boolean> {
    try {
      await this.#tree.write(filePlace([], path), bytes);
    } catch (error) {
      if (InvalidInputError.is(error)) return false;
      throw error;
    }
    await this.#handOver(path, isProgram(bytes));
    return true;
  }

  async append(path: string, bytes: Uint8Array): Promise<void> {
    await this.#tree.append(filePlace([], path), bytes);
    await this.#handOver(path, false);
  }

  async delete(path: string): Promise<boolean> {
    return this.#tree.delete(filePlace([], path));
  }

  /** @throws StateTooLargeError for more than `maxFiles` files and directories */
  async list(path: string, options: ListTreeOptions): Promise<readonly FileInfo[]> {
    return listTree(this.root, path, options);
  }

  async hasDirectory(path: string): Promise<boolean> {
    return this.#tree.has(directoryPlace([], path));
  }

  /** Gives a file, and the directories it is in, to the user that commands run as. */
  async #handOver(path: string, isExecutable: boolean): Promise<void> {
    const owner = this.#owner;
    if (owner === undefined && !isExecutable) return;
    const place = filePlace([], path);
    const chain = await walk(place, place.segments.slice(0, -1), { root: this.root });
    // Removed or replaced meanwhile: then it is nobody's concern here.
    if (typeof chain === "string") return;
    try {
      if (owner !== undefined)
        for (const directory of chain.slice(1)) await chown(directory.path, owner.uid, owner.gid);
      await handOverFile(
        chain.at(-1) ?? chain[0],
        place.segments.at(-1) ?? "",
        owner,
        isExecutable,
      );
    } finally {
      await closeAll(chain);
    }
  }
}

async function handOverFile(
  directory: OpenDirectory,
  name: string,
  owner: SandboxUser | undefined,
  isExecutable: boolean,
): Promise<void> {
  if ((await statEntry(directory, name))?.isFile() !== true) return;
  await withName(directory.entry(name), async (handle, path) => {
    if (!(await handle.stat()).isFile()) return;
    if (owner !== undefined) await chown(path, owner.uid, owner.gid);
    if (isExecutable) await chmod(path, 0o700);
  });
}
