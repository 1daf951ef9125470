import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { InvalidInputError, StoreUnavailableError } from "@holdfast/core";
import type { CommandResult } from "@holdfast/core/plugin-kit";
import { ioCode, ioReason } from "./io-error.js";
import { CappedOutput } from "./process/capped-output.js";
import { endGroup, watchGroup } from "./process/process-group.js";

/** Most of each output stream that a command's result keeps. */
export const DEFAULT_OUTPUT_BYTES = 1_048_576;

/** A program to run and how far it may go. */
export interface LimitedRun {
  /** The program and its arguments; no shell is put around them. */
  readonly argv: readonly [program: string, ...args: string[]];
  readonly cwd: string;
  /** The whole environment of the program: nothing of this process's is added. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Most bytes kept of stdout and of stderr each: the head and the tail. @default 1_048_576 */
  readonly outputBytes?: number | undefined;
}

/** The longest delay a timer of Node takes. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** How long output of a program that has ended may pause before nobody waits for more of it. */
const LINGER_MS = 250;

/**
 * Runs a program in a process group of its own and ends the whole group: when the program ends, at the time-out, when
 * `signal` aborts, and when this process exits.
 *
 * - Its output is read to the end, whatever there is of it, so it never waits for a reader; only `outputBytes` are kept.
 * - A process that left the group (`setsid`) is out of reach; it is not waited for.
 * - stdin is empty.
 *
 * @throws the reason of `signal` when that ended it
 * @throws InvalidInputError when the arguments cannot be passed to a program
 * @throws StoreUnavailableError when the program cannot be started
 */
export async function runLimited(run: LimitedRun): Promise<CommandResult> {
  run.signal.throwIfAborted();
  const child = start(run);
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

function start({ argv, cwd, env }: LimitedRun): ChildProcess {
  const [program, ...args] = argv;
  try {
    return spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    throw startFailure(error);
  }
}

function startFailure(error: unknown): Error {
  if (ioCode(error) === "E2BIG")
    return new InvalidInputError(
      "the command is too long for the system; put it into a file and run that",
      { cause: error },
    );
  if (error instanceof TypeError)
    return new InvalidInputError("the command holds a NUL character", { cause: error });
  return new StoreUnavailableError(
    `cannot start the command (${ioReason(error)}); nothing was run`,
    { cause: error },
  );
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
      // Once the program has been waited for its id may belong to somebody else.
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
      reject(startFailure(error));
    });
    child.on("exit", () => {
      exited = true;
      if (child.pid !== undefined) endGroup(child.pid);
      // What the group had written is in the pipes; only a process that left it can still hold them open.
      linger = setTimeout(() => setImmediate(stop), LINGER_MS);
    });
    child.on("close", (exitCode: number | null) => {
      tidy();
      if (signal.aborted) reject(signal.reason);
      else resolve({ exitCode: timedOut ? null : exitCode, timedOut });
    });
  });
}
