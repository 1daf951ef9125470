import { type Filesystem, StateTooLargeError } from "@holdfast/core";
import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { parentsOf } from "../filesystem/remote/file-key.js";
import { contentHash } from "./content-hash.js";
import { isHidden } from "./hidden-path.js";
import { KeptFiles } from "./kept-files.js";
import { removeTree } from "./remove-tree.js";
import type { ScratchTree } from "./scratch-tree.js";
import { treeUse } from "./tree-use.js";

/** What a {@link Room} is made of. */
export interface RoomOptions {
  /** Where the files stay when nobody is in. */
  readonly files: Filesystem;
  readonly namespace: FileNamespace;
  readonly tree: ScratchTree;
  readonly maxTotalBytes: number;
  readonly maxFiles: number;
}

/** How many times the limits a command may take while it runs: files that are there for a moment are its own affair. */
const slack = 2;

/** The files of a namespace in a directory, from the first call that enters to the last that leaves. */
export class Room {
  readonly tree: ScratchTree;
  /** How many calls and commands are in it. */
  visits = 0;
  readonly #kept: KeptFiles;
  readonly #options: RoomOptions;
  #maxTotalBytes = 0;
  #maxFiles = 0;

  private constructor(options: RoomOptions) {
    this.tree = options.tree;
    this.#kept = new KeptFiles(options.files, options.namespace);
    this.#options = options;
  }

  /** Fetches the files; on failure nothing is left behind. */
  static async restore(options: RoomOptions): Promise<Room> {
    const room = new Room(options);
    try {
      await room.refresh();
      return room;
    } catch (error) {
      await room.remove();
      throw error;
    }
  }

  /** Fetches what others have changed since. */
  async refresh(): Promise<void> {
    const found = await this.#kept.fetch(this.tree);
    const entries = new Set(found.flatMap(({ path }) => [path, ...parentsOf(path)]));
    // Limits do not hold for what was there before: a call that adds nothing is not to fail for it.
    this.#maxTotalBytes = Math.max(this.#options.maxTotalBytes, totalOf(found));
    this.#maxFiles = Math.max(this.#options.maxFiles, entries.size);
  }

  /**
   * Keeps what was changed, added and removed since the last time.
   *
   * @throws StateTooLargeError when there is too much, before anything is kept
   */
  async keep(): Promise<void> {
    const listed = await this.tree.list("", { maxFiles: this.#maxFiles, isComplete: true });
    const found = listed.filter(({ kind, path }) => kind === "file" && !isHidden(path));
    checkTotal(totalOf(found), this.#maxTotalBytes);
    const hashes = new Map<string, string>();
    for (const { path } of found) {
      const bytes = await this.tree.readIfFile(path);
      if (bytes !== null) hashes.set(path, contentHash(bytes));
    }
    await this.#kept.keep(this.tree, hashes);
  }

  /**
   * What is below a path, without what commands are not to see or make.
   *
   * @throws StateTooLargeError when there is too much
   */
  async list(path: string): Promise<readonly FileInfo[]> {
    const found = await this.tree.list(path, { maxFiles: this.#maxFiles });
    return found.filter((info) => !isHidden(info.path));
  }

  /**
   * Looks whether a command that is running has used up far more than can be kept, which no limit of its own prevents.
   *
   * @throws StateTooLargeError
   */
  async checkUse(): Promise<void> {
    const bytes = await treeUse(this.tree.root, slack * this.#maxFiles);
    checkTotal(bytes, slack * this.#maxTotalBytes);
  }

  async remove(): Promise<void> {
    await removeTree(this.tree.root);
  }
}

function checkTotal(total: number, limit: number): void {
  if (total > limit)
    throw new StateTooLargeError(
      `the files in the workspace have ${total} bytes; at most ${limit} are accepted (maxTotalBytes), delete some`,
    );
}

function totalOf(found: readonly FileInfo[]): number {
  return found.reduce((sum, { bytes }) => sum + bytes, 0);
}
