import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("./children/log-steps.mjs", import.meta.url));

/** What the process does, one after the other; see `children/log-steps.mjs`. */
export type LogStep =
  | { readonly append: readonly string[]; readonly bytes?: number }
  | { readonly read: number }
  | { readonly search: string }
  | { readonly delete: true };

/** How to run the process. */
export interface LogProcessOptions {
  readonly root: string;
  readonly steps: readonly LogStep[];
  /** @default "fsync" */
  readonly durability?: "fsync" | "os";
  /** Runs before node, for example strace and its options. */
  readonly wrapper?: readonly string[];
  /** Called when it is ready; it begins when that resolves. */
  readonly onReady?: () => Promise<void>;
  /** Called with every line; may kill the process. */
  readonly onLine?: (line: string, kill: () => void) => void;
}

/** What it said, a line per step: `ok`, a result, or the code of an error. And how it ended. */
export interface LogProcessRun {
  readonly lines: readonly string[];
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** Runs steps on the log of `loggedSlot` in a process of its own, until they are done or it is killed. */
export async function runLogProcess(options: LogProcessOptions): Promise<LogProcessRun> {
  const { root, steps, durability = "fsync", wrapper = [], onReady, onLine } = options;
  const [command = "", ...args] = [...wrapper, process.execPath, script, root, durability];
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "inherit"],
    // One thread for all file operations, so that "the 5th write" is the same one in every run.
    env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
  });
  // Killed before it read them all: that is what the test wanted.
  child.stdin.on("error", () => undefined);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", async (line) => {
    if (line === "ready") {
      await onReady?.();
      child.stdin.end(JSON.stringify(steps));
      return;
    }
    lines.push(line);
    onLine?.(line, () => child.kill("SIGKILL"));
  });
  const [exitCode, signal] = await new Promise<[number | null, string | null]>(
    (resolve, reject) => {
      child.on("error", reject);
      child.on("close", (...how) => resolve(how));
    },
  );
  return { lines, exitCode, signal };
}
