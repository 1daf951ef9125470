import { randomUUID } from "node:crypto";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "@holdfast/core";
import { hasIoCode, ioReason } from "@holdfast/workspace/filesystem-kit";
import { writeUserFiles } from "../bwrap/user-files.js";
import type { SandboxUser } from "../options.js";
import { MemoryVolume, type MemoryVolumeOptions } from "./memory-volume.js";
import { canTraverse } from "./permissions.js";
import { removeTree } from "./remove-tree.js";
import { isDead, ownScratchOwner, scratchOwnerIn, scratchPrefix } from "./scratch-owner.js";
import { ScratchTree } from "./scratch-tree.js";

/** Bytes and entries that a tree may hold. */
export type TreeSpace = Pick<MemoryVolumeOptions, "bytes" | "entries">;

/** Directory in which one sandbox filesystem of this process keeps its working copies. */
export class ScratchDirectory {
  readonly #path: string;
  readonly #owner: SandboxUser | undefined;

  private constructor(path: string, owner: SandboxUser | undefined) {
    this.#path = path;
    this.#owner = owner;
  }

  /**
   * Creates one below `directory`, and removes those that dead processes left behind.
   *
   * @param owner - user that commands run as; undefined = the user of this process
   * @throws ConfigurationError when `directory` cannot be used
   */
  static async open(directory: string, owner: SandboxUser | undefined): Promise<ScratchDirectory> {
    try {
      await sweep(directory);
      const path = await mkdtemp(join(directory, scratchPrefix(ownScratchOwner())));
      // Other users may traverse it, to the one directory that is their own, but not list it.
      if (owner !== undefined) await chmod(path, 0o711);
      const scratch = new ScratchDirectory(path, owner);
      await writeUserFiles(scratch.userFiles);
      if (owner === undefined || (await canTraverse(path, owner))) return scratch;
      await scratch.remove();
    } catch (error) {
      if (!hasIoCode(error, "ENOENT", "ENOTDIR", "EACCES", "EROFS", "EPERM")) throw error;
      const problem = `sandbox: option scratch names ${directory}, which cannot be used (${ioReason(error)})`;
      throw new ConfigurationError(`${problem}: name a writable directory on a local disk`);
    }
    throw new ConfigurationError(
      `sandbox: option scratch names ${directory}, which user ${owner?.uid} cannot reach: commands run as that user when this process is root; name a directory such as /var/tmp, or another user`,
    );
  }

  /** Directory with the `passwd` and `group` of the sandbox. */
  get userFiles(): string {
    return join(this.#path, "etc");
  }

  /**
   * Creates an empty tree.
   *
   * @param space - size of the filesystem in memory that holds it; undefined = it is on the disk
   * @throws ConfigurationError when such a filesystem cannot be mounted
   */
  async newTree(maxFileBytes: number, space: TreeSpace | undefined): Promise<ScratchTree> {
    const owner = this.#owner;
    const directory = join(this.#path, randomUUID());
    await mkdir(directory, { mode: 0o700 });
    if (owner !== undefined) await chown(directory, owner.uid, owner.gid);
    if (space === undefined) return new ScratchTree({ root: directory, maxFileBytes, owner });
    try {
      const volume = await MemoryVolume.create({ ...space, directory, owner });
      const { path: root } = volume;
      return new ScratchTree({ root, mountedFrom: directory, volume, maxFileBytes, owner });
    } catch (error) {
      await removeTree(directory);
      throw error;
    }
  }

  /** Removes the directory with everything in it. */
  async remove(): Promise<void> {
    await removeTree(this.#path);
  }
}

/** Removes the scratch directories of dead processes. */
async function sweep(directory: string): Promise<void> {
  const here = ownScratchOwner();
  for (const name of await readdir(directory)) {
    const owner = scratchOwnerIn(name);
    if (owner === null || !isDead(owner, here)) continue;
    const path = join(directory, name);
    try {
      const stats = await lstat(path);
      // The name does not prove which user created it.
      if (stats.isDirectory() && stats.uid === process.getuid?.()) await removeTree(path);
    } catch {
      // Another process may be sweeping the same directory; otherwise the next start tries again.
    }
  }
}
