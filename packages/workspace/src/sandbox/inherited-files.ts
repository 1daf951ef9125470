import { readdirSync, readFileSync } from "node:fs";

const closesOnExec = 0o2000000;

/**
 * The files above `last` that this process was started with and that programs it starts would get too. Node sees to its
 * own and, up to the first gap, to those it was given; what comes after is handed on: a pipe of make's, a directory.
 */
export function inheritedFiles(last: number): number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > last && isInherited(fd));
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closesOnExec) === 0;
  } catch {
    // The one with which the directory was read.
    return false;
  }
}
