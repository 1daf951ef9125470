import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually } from "@holdfast/testing";

/** Numbers of the calls on x64 and arm64. */
const numbers: { readonly [call: string]: readonly string[] } = {
  write: ["1", "64"],
  openat: ["257", "56"],
  link: ["86", "37"],
  pwrite64: ["18", "68"],
  rename: ["82", "264", "316", "38", "276"],
};

/** A process on hold. */
export interface HeldUp {
  /** The next line it writes; waits for it. */
  next(): Promise<string>;
  /** The lines it has written and nobody has taken. */
  readonly pending: readonly string[];
  /** Kills it. */
  kill(): void;
}

/**
 * Runs a script that first says `ready <pid>`; resolves when a tracer holds it up in a call on a file, for a second and
 * a half. The file need not exist.
 */
export async function heldUp(
  call: string,
  path: string,
  script: URL,
  args: readonly string[],
): Promise<HeldUp> {
  const inject = `inject=${call}:delay_enter=1500000`;
  const options = ["-f", "-qq", "-o", "/dev/null", "-P", path, "-e", `trace=${call}`, "-e", inject];
  const child = spawn("strace", [...options, process.execPath, fileURLToPath(script), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    // One thread for all file operations: nothing else goes on while one of them is held up.
    env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
  });
  const lines = linesOf(child);
  const pid = Number((await lines.next()).split(" ")[1]);
  child.stdin?.end();
  let looks = 0;
  await eventually(
    () => {
      looks = callsOf(pid).some((number) => numbers[call]?.includes(number)) ? looks + 1 : 0;
      return looks > 5;
    },
    { what: `being held up in ${call}`, timeoutMs: 30_000 },
  );
  return { ...lines, kill: () => process.kill(pid, "SIGKILL") };
}

/** The system calls that the threads of a process are in. */
function callsOf(pid: number): string[] {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).map((thread) => {
    try {
      return readFileSync(`${tasks}/${thread}/syscall`, "utf8").split(" ")[0] ?? "";
    } catch {
      return "";
    }
  });
}

function linesOf(child: ChildProcess): Omit<HeldUp, "kill"> {
  if (child.stdout === null) throw new Error("no output");
  const reader = createInterface({ input: child.stdout });
  const pending: string[] = [];
  reader.on("line", (line) => pending.push(line));
  return {
    pending,
    async next() {
      if (pending.length === 0) await once(reader, "line");
      return pending.shift() ?? "";
    },
  };
}
