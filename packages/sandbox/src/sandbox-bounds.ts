import { totalmem } from "node:os";
import { ConfigurationError } from "@holdfast/core";
import { syscallFilter } from "./bwrap/syscall-filter.js";
import type { TreeSpace } from "./files/scratch-directory.js";
import type { SandboxSettings } from "./options.js";

/** Way in which the resources of commands are bounded on this machine. */
export interface SandboxBounds {
  /**
   * Space of the files: `"kernel"` = they are in a filesystem of fixed size in memory, no byte more can be written;
   * `"measured"` = they are on the disk of the scratch directory, and a command that exceeds its limit is ended.
   */
  readonly disk: "kernel" | "measured";
  /** Memory of all processes of a command together: measured, and the command that exceeds its limit is ended. */
  readonly memory: "measured";
  /** Processes of a command: `"kernel"` = no further one can be started; `"measured"` = the command is ended. */
  readonly processes: "kernel" | "measured";
  /** Bounds that are weaker than they could be, each with its reason. */
  readonly notes: readonly string[];
}

/** Part of the machine's memory that the files of one namespace may take where `storage` is `"auto"`. */
const MEMORY_SHARE = 0.25;
const CHECKED_SPACE: TreeSpace = { bytes: 1_048_576, entries: 64 };
/** Entries for the root and for files that are being replaced by a tool. */
const RESERVED_ENTRIES = 16;

/** Returns the space of a filesystem in memory for files that take `space`. */
export function withReserve({ bytes, entries }: TreeSpace): TreeSpace {
  return { bytes, entries: entries + RESERVED_ENTRIES };
}

/**
 * Tries whether the files of commands can be in memory.
 *
 * @param attempt - runs a command on files in memory
 * @returns why they are on the disk; undefined = they are in memory
 * @throws ConfigurationError when they have to be in memory and cannot
 */
export async function memoryProblem(
  { storage, maxTotalBytes }: SandboxSettings,
  attempt: (space: TreeSpace) => Promise<void>,
): Promise<string | undefined> {
  if (storage === "disk") return 'option storage is "disk"';
  const available = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  if (storage === "auto" && 2 * maxTotalBytes > available * MEMORY_SHARE)
    return "twice maxTotalBytes is more than a quarter of the machine's memory";
  try {
    await attempt(CHECKED_SPACE);
    return undefined;
  } catch (error) {
    if (storage === "memory" || !ConfigurationError.is(error)) throw error;
    return error.message;
  }
}

/**
 * Describes how resources are bounded.
 *
 * @param problem - why the files are on the disk; undefined = they are in memory
 */
export function boundsOf({ user }: SandboxSettings, problem: string | undefined): SandboxBounds {
  const isRoot = process.getuid?.() === 0 && user.uid === 0;
  const notes: string[] = [];
  if (problem !== undefined)
    notes.push(`files are on the disk and measured while commands run: ${problem}`);
  if (isRoot) notes.push("processes are counted while commands run: they run as root");
  if (syscallFilter() === undefined)
    notes.push(`fallocate is allowed: there is no system call filter for ${process.arch}`);
  return {
    disk: problem === undefined ? "kernel" : "measured",
    memory: "measured",
    processes: isRoot ? "measured" : "kernel",
    notes,
  };
}
