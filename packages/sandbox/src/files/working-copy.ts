import { type Filesystem, StateTooLargeError } from "@holdfast/core";
import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { parentsOf } from "@holdfast/workspace/filesystem-kit";
import type { SandboxSettings } from "../options.js";
import { UsageChecks } from "../watch/usage-checks.js";
import { whileWatched } from "../watch/while-watched.js";
import { BackingFiles, contentHash, isHidden } from "./backing-files.js";
import type { TreeSpace } from "./scratch-directory.js";
import type { ScratchTree } from "./scratch-tree.js";

/** Options of a {@link WorkingCopy}. */
export interface WorkingCopyOptions
  extends Pick<SandboxSettings, "maxTotalBytes" | "maxFiles" | "memoryBytes" | "maxProcesses"> {
  /** Backing filesystem. */
  readonly files: Filesystem;
  readonly namespace: FileNamespace;
  /** Creates an empty tree for the copy. */
  readonly newTree: (space: TreeSpace) => Promise<ScratchTree>;
}

/** Factor by which a running command may exceed the limits: its temporary files are not written back. */
const RUNNING_SLACK = 2;
/** Unit in which disks and memory are allocated. */
const PAGE = 4_096;

/** Copy of a namespace's files on the local disk, for commands to work on. */
export class WorkingCopy {
  readonly tree: ScratchTree;
  /** Calls and commands that use the copy. */
  holders = 0;
  readonly #backing: BackingFiles;
  readonly #options: WorkingCopyOptions;
  #maxTotalBytes = 0;
  #maxFiles = 0;
  #space: TreeSpace = { bytes: 0, entries: 0 };
  /** True when a command may have left more behind than a running one may use. */
  #isExceeded = false;

  private constructor(options: WorkingCopyOptions, backing: BackingFiles, tree: ScratchTree) {
    this.tree = tree;
    this.#backing = backing;
    this.#options = options;
  }

  /** Fetches the files; after a failure nothing is left behind. */
  static async create(options: WorkingCopyOptions): Promise<WorkingCopy> {
    const backing = new BackingFiles(options.files, options.namespace);
    const found = await backing.list();
    const copy = new WorkingCopy(
      options,
      backing,
      await options.newTree(runningSpace(found, options)),
    );
    try {
      await copy.#fetch(found);
      return copy;
    } catch (error) {
      await copy.remove();
      throw error;
    }
  }

  /** Fetches what others have changed in the backing filesystem. */
  async refresh(): Promise<void> {
    await this.#fetch(await this.#backing.list());
  }

  /**
   * Writes changes back to the backing filesystem.
   *
   * @throws StateTooLargeError over the limits, before anything is written
   */
  async writeBack(): Promise<void> {
    const listed = await this.tree.list("", { maxFiles: this.#maxFiles, isComplete: true });
    const found = listed.filter(({ kind, path }) => kind === "file" && !isHidden(path));
    const total = totalOf(found);
    if (total > this.#maxTotalBytes)
      throw new StateTooLargeError(
        `the files in the workspace have ${total} bytes; at most ${this.#maxTotalBytes} are accepted (maxTotalBytes), delete some`,
      );
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
   * Runs `work` and aborts it when its command exceeds a limit.
   *
   * @throws HoldfastError that names the limit when it was aborted for that reason
   */
  async whileWithinLimits<T>(
    signal: AbortSignal,
    work: (signal: AbortSignal, onStarted: (firstProcess: number) => void) => Promise<T>,
  ): Promise<T> {
    const { memoryBytes, maxProcesses } = this.#options;
    const { bytes, entries } = this.#space;
    // The first process of a sandbox and the one that limits are set in are not the command's.
    const checks = new UsageChecks(this.tree, {
      ...{ totalBytes: bytes, files: entries, memoryBytes, processes: maxProcesses + 2 },
    });
    if (this.#isExceeded) this.#isExceeded = await checks.allowWhatIsThere();
    try {
      return await whileWatched(signal, checks.all(), (either) =>
        work(either, (firstProcess) => {
          checks.firstProcess = firstProcess;
        }),
      );
    } catch (error) {
      this.#isExceeded ||= StateTooLargeError.is(error);
      throw error;
    }
  }

  /** Removes the copy. */
  async remove(): Promise<void> {
    await this.tree.remove();
  }

  async #fetch(found: readonly FileInfo[]): Promise<void> {
    await this.#backing.fetch(this.tree, found);
    const { maxTotalBytes, maxFiles } = this.#options;
    // A call that adds nothing must not fail because of what was there before.
    this.#maxTotalBytes = Math.max(maxTotalBytes, totalOf(found));
    this.#maxFiles = Math.max(maxFiles, entriesOf(found));
    this.#space = runningSpace(found, this.#options);
  }
}

/** Returns the space that a running command may use, for files that are there before it. */
function runningSpace(
  found: readonly FileInfo[],
  { maxTotalBytes, maxFiles }: Pick<WorkingCopyOptions, "maxTotalBytes" | "maxFiles">,
): TreeSpace {
  const blocks = found.reduce((sum, { bytes }) => sum + Math.ceil(bytes / PAGE) * PAGE, 0);
  return {
    bytes: RUNNING_SLACK * Math.max(maxTotalBytes, blocks),
    entries: RUNNING_SLACK * Math.max(maxFiles, entriesOf(found)),
  };
}

function entriesOf(found: readonly FileInfo[]): number {
  return new Set(found.flatMap(({ path }) => [path, ...parentsOf(path)])).size;
}

function totalOf(found: readonly FileInfo[]): number {
  return found.reduce((sum, { bytes }) => sum + bytes, 0);
}
