import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { InvalidInputError, StoreUnavailableError } from "@holdfast/core";
import type { CommandResult } from "@holdfast/core/plugin-kit";
import { CappedOutput } from "./capped-output.js";
import { hasIoCode, ioCode, ioReason } from "./io-error.js";

/** Bytes of stdout and of stderr each that a command's result keeps by default: 1 MB. */
export const DEFAULT_OUTPUT_BYTES = 1_048_576;

/** Program to run, and its limits. */
export interface LimitedRun {
  /** Program and its arguments; no shell is involved. */
  readonly argv: readonly [program: string, ...args: string[]];
  readonly cwd: string;
  /** Complete environment of the program; nothing is inherited from this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Bytes kept of stdout and of stderr each: the head and the tail. @default 1_048_576 */
  readonly outputBytes?: number | undefined;
}

/** Longest delay that a timer of Node accepts. */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** Silence after which the output of a program that has exited is taken to be complete. */
const LINGER_MS = 250;

/**
 * Runs a program in a process group of its own and kills the whole group when the program exits, at the timeout, when
 * `signal` aborts, and when this process exits.
 *
 * - Its output is read to the end, however long, so the program never blocks on a full pipe; `outputBytes` of it are kept.
 * - A process that left the group (`setsid`) is neither killed nor waited for.
 * - stdin is empty.
 *
 * @throws the reason of `signal` when that ended it
 * @throws InvalidInputError when the arguments cannot be passed to a program
 * @throws StoreUnavailableError when the program cannot be started
 */
export async function runLimited(run: LimitedRun): Promise<CommandResult> {
  // Loaded with the first command: runtimes that have no processes load this package too.
  const { spawn } = await import("node:child_process");
  run.signal.throwIfAborted();
  const child = start(run, spawn);
  const outputBytes = run.outputBytes ?? DEFAULT_OUTPUT_BYTES;
  const stdout = new CappedOutput(outputBytes);
  const stderr = new CappedOutput(outputBytes);
  const { exitCode, timedOut } = await ended(child, run, [
    [child.stdout, stdout],
    [child.stderr, stderr],
  ]);
  return {
    exitCode,
    stdout: stdout.text(),
    stderr: stderr.text(),
    timedOut,
    truncated: stdout.isTruncated || stderr.isTruncated,
  };
}

/**
 * Makes the error for a program that could not be started; an error that is not about starting it is returned as it is.
 *
 * @param program - its name in the message
 */
export function startFailure(program: string, error: unknown): unknown {
  if (hasIoCode(error, "E2BIG")) {
    const message = "the command is too long for the system; write it to a file and run that";
    return new InvalidInputError(message, { cause: error });
  }
  if (error instanceof TypeError)
    return new InvalidInputError("the command contains a NUL character", { cause: error });
  if (ioCode(error) === undefined) return error;
  const message = `cannot start ${program} (${ioReason(error)}); nothing was run`;
  return new StoreUnavailableError(message, { cause: error });
}

function start(
  { argv, cwd, env }: LimitedRun,
  spawn: typeof import("node:child_process").spawn,
): ChildProcess {
  const [program, ...args] = argv;
  try {
    return spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw startFailure("the command", error);
  }
}

function ended(
  child: ChildProcess,
  { timeoutMs, signal }: LimitedRun,
  streams: readonly (readonly [Readable | null, CappedOutput])[],
): Promise<{ readonly exitCode: number | null; readonly timedOut: boolean }> {
  return new Promise((resolve, reject) => {
    let exited = false;
    let timedOut = false;
    let linger: NodeJS.Timeout | undefined;

    const stop = () => {
      // Once the program has been waited for, its id may belong to another process.
      if (!exited && child.pid !== undefined) endGroup(child.pid);
      if (exited) for (const [stream] of streams) stream?.destroy();
    };
    const onTimeout = () => {
      timedOut = !exited;
      stop();
    };
    const timer = setTimeout(onTimeout, Math.min(timeoutMs, LONGEST_TIMER_MS));
    signal.addEventListener("abort", stop, { once: true });
    const tidy = () => {
      clearTimeout(timer);
      clearTimeout(linger);
      signal.removeEventListener("abort", stop);
    };

    for (const [stream, output] of streams)
      stream?.on("data", (chunk: Buffer) => {
        output.push(chunk);
        linger?.refresh();
      });
    if (child.pid !== undefined) watchGroup(child.pid);
    child.on("error", (error) => {
      if (child.pid !== undefined) return;
      tidy();
      reject(startFailure("the command", error));
    });
    child.on("exit", () => {
      exited = true;
      if (child.pid !== undefined) endGroup(child.pid);
      // The output of the group is in the pipes; only a process that left the group can still hold them open.
      linger = setTimeout(() => setImmediate(stop), LINGER_MS);
    });
    child.on("close", (exitCode: number | null) => {
      tidy();
      if (signal.aborted) reject(signal.reason);
      else resolve({ exitCode: timedOut ? null : exitCode, timedOut });
    });
  });
}

const runningGroups = new Set<number>();

/** Registers a process group that this process started, so that it is ended when this process exits. */
function watchGroup(leader: number): void {
  if (runningGroups.size === 0) process.on("exit", endAllGroups);
  runningGroups.add(leader);
}

/**
 * Kills every process of a group. Only for a leader that this process started and that was not waited for before this
 * turn of the event loop: later its id may name another group.
 */
function endGroup(leader: number): void {
  runningGroups.delete(leader);
  if (runningGroups.size === 0) process.off("exit", endAllGroups);
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // The group is empty.
  }
}

function endAllGroups(): void {
  for (const leader of [...runningGroups]) endGroup(leader);
}
