import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/** Which process a scratch directory belongs to; written in its name, so that it is there as soon as the directory is. */
export interface ScratchOwner {
  readonly pid: number;
  /** When the process started, as the system counts: a later one with the same number has another. */
  readonly start: string;
  readonly machine: string;
  readonly boot: string;
  /** In which pid namespace (container) the number means something. */
  readonly container: string;
}

const prefix = "holdfast-sandbox";
const namePattern = new RegExp(`^${prefix}-(\\d+)-(\\d+)-(\\w+)-(\\w+)-(\\w+)-[\\w-]+$`);
/** Machines that do not know their name cannot be told apart. */
const unknown = "unknown";

/** This process. */
export function ownScratchOwner(): ScratchOwner {
  return {
    pid: process.pid,
    start: startOf("self") ?? "0",
    machine: digest(attempt(() => readFileSync("/etc/machine-id", "utf8"))),
    boot: digest(attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"))),
    container: digest(attempt(() => readlinkSync("/proc/self/ns/pid"))),
  };
}

/** The first part of the name of a scratch directory; what follows is random. */
export function scratchPrefix({ pid, start, machine, boot, container }: ScratchOwner): string {
  return `${prefix}-${pid}-${start}-${machine}-${boot}-${container}-`;
}

/** Whose a directory is by its name; null for anything that is no scratch directory. */
export function scratchOwnerIn(name: string): ScratchOwner | null {
  const [, pid, start, machine, boot, container] = namePattern.exec(name) ?? [];
  if (!pid || !start || !machine || !boot || !container) return null;
  return { pid: Number(pid), start, machine, boot, container };
}

/** Whether a process surely runs no more; one of another machine or container may be running. */
export function isDead(owner: ScratchOwner, here: ScratchOwner): boolean {
  if (owner.machine !== here.machine) return false;
  if (owner.boot !== here.boot) return owner.machine !== unknown && owner.boot !== unknown;
  if (owner.container !== here.container || owner.container === unknown) return false;
  return startOf(owner.pid) !== owner.start;
}

/** The 22nd field of the process's status; the 2nd is its name in brackets, which may hold anything. */
function startOf(pid: number | "self"): string | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8")) ?? "";
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function attempt(read: () => string): string | undefined {
  try {
    return read().trim();
  } catch {
    return undefined;
  }
}

function digest(text: string | undefined): string {
  if (text === undefined || text === "") return unknown;
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
