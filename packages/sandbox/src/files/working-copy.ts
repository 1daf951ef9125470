import { setTimeout as sleep } from "node:timers/promises";
import { type Filesystem, StateTooLargeError } from "@holdfast/core";
import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { parentsOf } from "@holdfast/workspace/filesystem-kit";
import { BackingFiles, contentHash, isHidden } from "./backing-files.js";
import { diskUsage } from "./disk-usage.js";
import { removeTree } from "./remove-tree.js";
import type { ScratchTree } from "./scratch-tree.js";

/** Options of a {@link WorkingCopy}. */
export interface WorkingCopyOptions {
  /** Backing filesystem. */
  readonly files: Filesystem;
  readonly namespace: FileNamespace;
  /** Empty tree for the copy. */
  readonly tree: ScratchTree;
  readonly maxTotalBytes: number;
  readonly maxFiles: number;
}

/** Factor by which a running command may exceed the limits: its temporary files are not written back. */
const RUNNING_SLACK = 2;
const USAGE_CHECK_MS = 500;

/** Copy of a namespace's files on the local disk, for commands to work on. */
export class WorkingCopy {
  readonly tree: ScratchTree;
  /** Calls and commands that use the copy. */
  holders = 0;
  readonly #backing: BackingFiles;
  readonly #options: WorkingCopyOptions;
  #maxTotalBytes = 0;
  #maxFiles = 0;

  private constructor(options: WorkingCopyOptions) {
    this.tree = options.tree;
    this.#backing = new BackingFiles(options.files, options.namespace);
    this.#options = options;
  }

  /** Fetches the files; after a failure nothing is left behind. */
  static async create(options: WorkingCopyOptions): Promise<WorkingCopy> {
    const copy = new WorkingCopy(options);
    try {
      await copy.refresh();
      return copy;
    } catch (error) {
      await copy.remove();
      throw error;
    }
  }

  /** Fetches what others have changed in the backing filesystem. */
  async refresh(): Promise<void> {
    const found = await this.#backing.fetch(this.tree);
    const entries = new Set(found.flatMap(({ path }) => [path, ...parentsOf(path)]));
    // A call that adds nothing must not fail because of what was there before.
    this.#maxTotalBytes = Math.max(this.#options.maxTotalBytes, totalOf(found));
    this.#maxFiles = Math.max(this.#options.maxFiles, entries.size);
  }

  /**
   * Writes changes back to the backing filesystem.
   *
   * @throws StateTooLargeError over the limits, before anything is written
   */
  async writeBack(): Promise<void> {
    const listed = await this.tree.list("", { maxFiles: this.#maxFiles, isComplete: true });
    const found = listed.filter(({ kind, path }) => kind === "file" && !isHidden(path));
    checkTotal(totalOf(found), this.#maxTotalBytes);
    const hashes = new Map<string, string>();
    for (const { path } of found) {
      const bytes = await this.tree.readIfFile(path);
      if (bytes !== null) hashes.set(path, contentHash(bytes));
    }
    await this.#backing.writeBack(this.tree, hashes);
  }

  /**
   * Lists everything below a path, without hidden paths that a command may have created.
   *
   * @throws StateTooLargeError over the limits
   */
  async list(path: string): Promise<readonly FileInfo[]> {
    const found = await this.tree.list(path, { maxFiles: this.#maxFiles });
    return found.filter((info) => !isHidden(info.path));
  }

  /**
   * Runs `work` and aborts it once the files take twice the limits, which no limit of a process prevents.
   *
   * @throws StateTooLargeError when it was aborted for that reason
   */
  async whileWithinLimits<T>(
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const stop = new AbortController();
    const done = new AbortController();
    const watching = this.#watchUsage(done.signal).catch((error: unknown) => stop.abort(error));
    try {
      return await work(AbortSignal.any([signal, stop.signal]));
    } finally {
      done.abort();
      await watching;
    }
  }

  /** Removes the copy from the disk. */
  async remove(): Promise<void> {
    await removeTree(this.tree.root);
  }

  async #watchUsage(done: AbortSignal): Promise<void> {
    while (!done.aborted) {
      await sleep(USAGE_CHECK_MS, undefined, { signal: done }).catch(() => {});
      if (done.aborted) return;
      try {
        const bytes = await diskUsage(this.tree.root, RUNNING_SLACK * this.#maxFiles);
        checkTotal(bytes, RUNNING_SLACK * this.#maxTotalBytes);
      } catch (error) {
        // Any other error comes from files that change while they are looked at; the next check sees more.
        if (StateTooLargeError.is(error)) throw error;
      }
    }
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
