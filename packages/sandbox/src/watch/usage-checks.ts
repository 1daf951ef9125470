import { stat, statfs } from "node:fs/promises";
import { InvalidInputError, StateTooLargeError, StoreUnavailableError } from "@holdfast/core";
import { diskUsage, type TreeUsage } from "../files/disk-usage.js";
import { tooManyFiles } from "../files/list-tree.js";
import type { ScratchTree } from "../files/scratch-tree.js";
import { SandboxProcesses } from "./sandbox-processes.js";
import type { UsageCheck } from "./while-watched.js";

/** Limits of a running command. */
export interface UsageLimits {
  /** Bytes of the files in the workspace, deleted ones that are still open included. */
  readonly totalBytes: number;
  /** Files and directories in the workspace. */
  readonly files: number;
  /** Memory of all processes together. */
  readonly memoryBytes: number;
  /** Processes at a time. */
  readonly processes: number;
}

const TREE_CHECK_MS = 250;
const QUICK_CHECK_MS = 100;
/** A program that finds no space says so itself, or makes some; only a command that goes on without is ended. */
const MAX_FULL_CHECKS = 30;
const MAX_HIDDEN_CHECKS = 5;
/** Times `files` up to which a tree that is over its limits is measured before a command. */
const MEASURED_FACTOR = 100;
/** Part of the disk, and bytes at most, that commands leave free for everything else on the machine. */
const FREE_SHARE = 0.05;
const MAX_FREE_BYTES = 1_073_741_824;

/** Measures what a running command uses of the disk and of memory. */
export class UsageChecks {
  /** Pid of the sandbox's first process, once there is one. */
  firstProcess: number | undefined;
  readonly #tree: ScratchTree;
  readonly #limits: UsageLimits;
  /** Bytes of deleted files of the workspace that processes held open when they were last looked at. */
  #deletedBytes = 0;
  /** Checks in a row for which a process has hidden its open files. */
  #hidden: ReadonlyMap<string, number> = new Map();
  /** Checks in a row that found a filesystem of fixed size full. */
  #fullChecks = 0;
  /** Space the tree may take until the next check: the limits, or its own size when a command began above them. */
  #allowed: TreeUsage;

  constructor(tree: ScratchTree, limits: UsageLimits) {
    this.#tree = tree;
    this.#limits = limits;
    this.#allowed = { bytes: limits.totalBytes, files: limits.files };
  }

  /**
   * Lets a command begin with a tree that is over its limits, so that it can delete some; the tree must not grow.
   *
   * @returns false when the tree is within its limits
   */
  async allowWhatIsThere(): Promise<boolean> {
    if (this.#tree.volume !== undefined) return false;
    const { files, totalBytes } = this.#limits;
    const found = await diskUsage(this.#tree.root, MEASURED_FACTOR * files).catch(() => null);
    // What cannot be measured is not allowed; the command has until the first check.
    if (found === null) return true;
    this.#allow(found);
    return found.bytes > totalBytes || found.files > files;
  }

  /** Returns the checks that this kind of tree needs. */
  all(): UsageCheck[] {
    const processes = { everyMs: QUICK_CHECK_MS, measure: () => this.#checkProcesses() };
    const space = { everyMs: QUICK_CHECK_MS, measure: () => this.#checkSpace() };
    if (this.#tree.volume !== undefined) return [processes, space];
    return [processes, space, { everyMs: TREE_CHECK_MS, measure: () => this.#checkTree() }];
  }

  async #checkTree(): Promise<void> {
    const { bytes, files } = await diskUsage(this.#tree.root, this.#allowed.files);
    const used = bytes + this.#deletedBytes;
    if (used > this.#allowed.bytes) throw tooMuchDisk(used, this.#limits.totalBytes);
    this.#allow({ bytes: used, files });
  }

  #allow({ bytes, files }: TreeUsage): void {
    const { totalBytes, files: maxFiles } = this.#limits;
    this.#allowed = { bytes: Math.max(bytes, totalBytes), files: Math.max(files, maxFiles) };
  }

  /** Checks a filesystem of fixed size for being full, and a disk for filling up, whatever fills it. */
  async #checkSpace(): Promise<void> {
    const { bavail, bsize, blocks, ffree } = await statfs(this.#tree.root);
    if (this.#tree.volume === undefined) {
      const free = bavail * bsize;
      if (free >= Math.min(blocks * bsize * FREE_SHARE, MAX_FREE_BYTES)) return;
      throw new StoreUnavailableError(
        `the command was ended: the disk of the sandbox's scratch directory has only ${free} bytes left; free some space, or name another directory (scratch)`,
      );
    }
    this.#fullChecks = ffree === 0 || bavail === 0 ? this.#fullChecks + 1 : 0;
    if (this.#fullChecks < MAX_FULL_CHECKS) return;
    throw ffree === 0
      ? tooManyFiles(this.#limits.files)
      : tooMuchDisk(blocks * bsize, blocks * bsize);
  }

  async #checkProcesses(): Promise<void> {
    if (this.firstProcess === undefined) return;
    const processes = new SandboxProcesses(this.firstProcess);
    const pids = await processes.list();
    if (pids.length > this.#limits.processes)
      throw new StateTooLargeError(
        `the command was ended: it has ${pids.length} processes; at most ${this.#limits.processes} are accepted (maxProcesses)`,
      );
    const { dev } = await stat(this.#tree.root);
    const { bytes, hidden } = await processes.unnamedFiles(pids);
    this.#checkHidden(hidden);
    this.#deletedBytes = bytes.get(dev) ?? 0;
    const memoryFiles =
      [...bytes.values()].reduce((sum, each) => sum + each, 0) - this.#deletedBytes;
    const { memoryBytes, totalBytes } = this.#limits;
    if (this.#tree.volume === undefined && this.#deletedBytes > totalBytes)
      throw tooMuchDisk(this.#deletedBytes, totalBytes);
    if (memoryFiles + (await processes.residentBytes(pids)) <= memoryBytes) return;
    const used = memoryFiles + (await processes.proportionalBytes(pids));
    if (used > memoryBytes)
      throw new StateTooLargeError(
        `the command was ended: its processes have ${used} bytes of memory together; at most ${memoryBytes} are accepted (memoryBytes), use less or run fewer at a time`,
      );
  }

  /** Checks that no process goes on hiding what it has open, which then cannot be measured; at its start and end it may. */
  #checkHidden(hidden: readonly string[]): void {
    this.#hidden = new Map(hidden.map((pid) => [pid, (this.#hidden.get(pid) ?? 0) + 1]));
    if (Math.max(0, ...this.#hidden.values()) >= MAX_HIDDEN_CHECKS)
      throw new InvalidInputError(
        "the command was ended: one of its processes hides its open files, so that they cannot be measured; do not run a program without permission to read it",
      );
  }
}

function tooMuchDisk(used: number, limit: number): StateTooLargeError {
  return new StateTooLargeError(
    `the command was ended: the files in the workspace take ${used} bytes; it may use ${limit}, twice maxTotalBytes; delete some`,
  );
}
