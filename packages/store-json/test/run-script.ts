import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Output and exit code of a script. */
export interface ScriptRun {
  readonly lines: readonly string[];
  readonly exitCode: number | null;
}

/** Options of {@link runScript}. */
export interface RunOptions {
  /** Runs before node, for example strace and its options. */
  readonly wrapper?: readonly string[] | undefined;
  /** Called with every line; may kill the process. */
  readonly onLine?: ((line: string, kill: () => void) => void) | undefined;
}

/** Runs a script until it ends or is killed. */
export async function runScript(
  script: URL,
  scriptArgs: readonly string[],
  { wrapper = [], onLine }: RunOptions,
): Promise<ScriptRun> {
  const [command = "", ...args] = [
    ...wrapper,
    process.execPath,
    fileURLToPath(script),
    ...scriptArgs,
  ];
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "inherit"],
    // One thread for all file operations, so that "the 5th write" is the same one in every run.
    env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    onLine?.(line, () => child.kill("SIGKILL"));
  });
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { lines, exitCode };
}
