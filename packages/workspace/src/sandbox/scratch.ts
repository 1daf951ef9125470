import { randomUUID } from "node:crypto";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "@holdfast/core";
import { hasIoCode, ioReason } from "../filesystem/io-error.js";
import { canPass } from "./can-pass.js";
import type { SandboxUser } from "./options.js";
import { removeTree } from "./remove-tree.js";
import { isDead, ownScratchOwner, scratchOwnerIn, scratchPrefix } from "./scratch-owner.js";
import { ScratchTree } from "./scratch-tree.js";
import { writeUserFiles } from "./user-files.js";

/** The directory in which one sandbox filesystem of this process keeps files while calls work on them. */
export class Scratch {
  readonly #path: string;
  readonly #owner: SandboxUser | undefined;

  private constructor(path: string, owner: SandboxUser | undefined) {
    this.#path = path;
    this.#owner = owner;
  }

  /**
   * Makes one below `directory`, and removes those of processes that ended without doing so.
   *
   * @param owner - whom commands run as, where that is not this process's own user
   * @throws ConfigurationError when `directory` is of no use
   */
  static async open(directory: string, owner: SandboxUser | undefined): Promise<Scratch> {
    try {
      await sweep(directory);
      const path = await mkdtemp(join(directory, scratchPrefix(ownScratchOwner())));
      // Another user may pass through, to the one directory that is its own, and see nothing here.
      if (owner !== undefined) await chmod(path, 0o711);
      const scratch = new Scratch(path, owner);
      await writeUserFiles(scratch.userFiles);
      if (owner === undefined || (await canPass(path, owner))) return scratch;
      await scratch.remove();
    } catch (error) {
      if (!hasIoCode(error, "ENOENT", "ENOTDIR", "EACCES", "EROFS", "EPERM")) throw error;
      const problem = `sandbox: option scratch names ${directory}, which cannot be used (${ioReason(error)})`;
      throw new ConfigurationError(`${problem}: name a directory on a local disk that is writable`);
    }
    throw new ConfigurationError(
      `sandbox: option scratch names ${directory}, which user ${owner?.uid} cannot reach: commands run as that user when this process is root; name a directory such as /var/tmp, or another user`,
    );
  }

  /** Where the `passwd` and `group` of the sandbox are. */
  get userFiles(): string {
    return join(this.#path, "etc");
  }

  /** An empty tree. */
  async tree(maxFileBytes: number): Promise<ScratchTree> {
    const root = join(this.#path, randomUUID());
    await mkdir(root, { mode: 0o700 });
    if (this.#owner !== undefined) await chown(root, this.#owner.uid, this.#owner.gid);
    return new ScratchTree({ root, maxFileBytes, owner: this.#owner });
  }

  async remove(): Promise<void> {
    await removeTree(this.#path);
  }
}

async function sweep(directory: string): Promise<void> {
  const here = ownScratchOwner();
  for (const name of await readdir(directory)) {
    const owner = scratchOwnerIn(name);
    if (owner === null || !isDead(owner, here)) continue;
    const path = join(directory, name);
    try {
      const stats = await lstat(path);
      // The name proves nothing about who made it.
      if (stats.isDirectory() && stats.uid === process.getuid?.()) await removeTree(path);
    } catch {
      // Another process sweeps the same directory at the same time, or the next start tries again.
    }
  }
}
