import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { ioCode } from "../io/io-error.js";

/** Identifies a process, so that others on the host can tell whether it still runs. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in the system's clock ticks; a later process with the same pid has another. */
  readonly start: string | null;
  /** Scope of the pid: one boot of one machine, and one pid namespace (container) on it. */
  readonly host: string;
}

let own: ProcessIdentity | undefined;

/** Identity of this process; looked up once. */
export function ownIdentity(): ProcessIdentity {
  own ??= { pid: process.pid, start: startIn(readOr("/proc/self/stat", "")), host: ownHost() };
  return own;
}

/** Tells whether a process runs; `unknown` for one whose pid has no meaning here. */
export function processState(
  { pid, start, host }: ProcessIdentity,
  here: ProcessIdentity,
): "alive" | "dead" | "unknown" {
  if (host !== here.host) return "unknown";
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    if (ioCode(error) === "ESRCH") return "dead";
  }
  if (start === null) return "alive";
  const now = startIn(readOr(`/proc/${pid}/stat`, ""));
  return now === null || now === start ? "alive" : "dead";
}

function ownHost(): string {
  const boot = readOr("/proc/sys/kernel/random/boot_id", hostname()).trim();
  let namespace = "";
  try {
    namespace = readlinkSync("/proc/self/ns/pid");
  } catch {
    // Not Linux: one namespace.
  }
  return `${boot} ${namespace}`.trim();
}

/** The 22nd field. The 2nd is the program's name in brackets, which may hold anything. */
function startIn(stat: string): string | null {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return otherwise;
  }
}
