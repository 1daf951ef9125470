import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";

/** Process that a scratch directory belongs to; part of its name, so that it is known as soon as the directory exists. */
export interface ScratchOwner {
  readonly pid: number;
  /** Start time of the process in clock ticks, which tells it from a later one with the same pid. */
  readonly start: string;
  /** Hash of the machine id. */
  readonly machine: string;
  /** Hash of the boot id. */
  readonly boot: string;
  /** Hash of the pid namespace (container) that the pid belongs to. */
  readonly container: string;
}

const prefix = "holdfast-sandbox";
const namePattern = new RegExp(`^${prefix}-(\\d+)-(\\d+)-(\\w+)-(\\w+)-(\\w+)-[\\w-]+$`);
/** Stands for an id that the system does not provide; such machines cannot be told apart. */
const unknown = "unknown";

/** Returns the owner that stands for this process. */
export function ownScratchOwner(): ScratchOwner {
  return {
    pid: process.pid,
    start: startOf("self") ?? "0",
    machine: digest(tryRead(() => readFileSync("/etc/machine-id", "utf8"))),
    boot: digest(tryRead(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"))),
    container: digest(tryRead(() => readlinkSync("/proc/self/ns/pid"))),
  };
}

/** Returns the first part of the name of a scratch directory; the rest is random. */
export function scratchPrefix({ pid, start, machine, boot, container }: ScratchOwner): string {
  return `${prefix}-${pid}-${start}-${machine}-${boot}-${container}-`;
}

/** Parses the name of a scratch directory; null for any other name. */
export function scratchOwnerIn(name: string): ScratchOwner | null {
  const [, pid, start, machine, boot, container] = namePattern.exec(name) ?? [];
  if (!pid || !start || !machine || !boot || !container) return null;
  return { pid: Number(pid), start, machine, boot, container };
}

/** Returns true for a process that has certainly ended; one of another machine or container may be running. */
export function isDead(owner: ScratchOwner, here: ScratchOwner): boolean {
  if (owner.machine !== here.machine) return false;
  if (owner.boot !== here.boot) return owner.machine !== unknown && owner.boot !== unknown;
  if (owner.container !== here.container || owner.container === unknown) return false;
  return startOf(owner.pid) !== owner.start;
}

/** Reads field 22 of `/proc/<pid>/stat`; field 2, the name in parentheses, may contain anything. */
function startOf(pid: number | "self"): string | undefined {
  const stat = tryRead(() => readFileSync(`/proc/${pid}/stat`, "utf8")) ?? "";
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function tryRead(read: () => string): string | undefined {
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
