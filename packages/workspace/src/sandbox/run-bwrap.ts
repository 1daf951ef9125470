import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { InvalidInputError, StoreUnavailableError } from "@holdfast/core";
import type { CommandResult } from "@holdfast/core/plugin-kit";
import { hasIoCode, ioCode, ioReason } from "../filesystem/io-error.js";
import { CappedOutput } from "../filesystem/process/capped-output.js";
import { STATUS_FD } from "./bwrap-arguments.js";
import { BwrapStatus } from "./bwrap-status.js";
import { inheritedFiles } from "./inherited-files.js";
import type { SandboxUser } from "./options.js";

/** A sandbox to start. */
export interface BwrapRun {
  readonly bwrap: string;
  /** Told through a pipe. */
  readonly options: readonly string[];
  readonly command: readonly string[];
  /** Whom bubblewrap runs as; undefined = as this process. */
  readonly user?: SandboxUser | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly outputBytes: number;
}

/** How a sandbox ended. */
export interface BwrapOutcome {
  readonly result: CommandResult;
  /** Whether a sandbox was there at all; if not, `result.stderr` is what bubblewrap complained about. */
  readonly wasSetUp: boolean;
}

const optionsFd = 4;
const longestTimerMs = 2_147_483_647;
/** How long the kernel may take to end a whole sandbox before bubblewrap itself is ended too. */
const graceMs = 5_000;

/**
 * Runs a command in a sandbox. Resolves when every process of the sandbox has ended, however it came to that.
 *
 * @throws the reason of `signal` when that ended it
 * @throws InvalidInputError when the command cannot be passed to a program
 * @throws StoreUnavailableError when bubblewrap cannot be started
 */
export async function runBwrap(run: BwrapRun): Promise<BwrapOutcome> {
  run.signal.throwIfAborted();
  const child = start(run);
  const status = new BwrapStatus(readable(child, STATUS_FD));
  const stdout = collect(readable(child, 1), run.outputBytes);
  const stderr = collect(readable(child, 2), run.outputBytes);
  const closed = once(child, "close");
  const ending = new Ending(child, status);
  let timedOut = false;
  const timer = setTimeout(
    () => {
      timedOut = ending.begin();
    },
    Math.min(run.timeoutMs, longestTimerMs),
  );
  const onAbort = (): void => void ending.begin();
  run.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const [exitCode, killedBy] = await closed.catch((error: unknown) => {
      throw startFailure(error);
    });
    run.signal.throwIfAborted();
    return {
      result: {
        exitCode: timedOut ? null : exitCode,
        stdout: stdout.text(),
        stderr: stderr.text(),
        timedOut,
        truncated: stdout.isTruncated || stderr.isTruncated,
      },
      wasSetUp: timedOut || killedBy !== null || status.hasEnded,
    };
  } finally {
    clearTimeout(timer);
    ending.over();
    run.signal.removeEventListener("abort", onAbort);
  }
}

function start({ bwrap, options, command, user }: BwrapRun): ChildProcess {
  const nothing = openSync("/dev/null", "r");
  try {
    const child = spawn(bwrap, ["--args", String(optionsFd), "--", ...command], {
      cwd: "/",
      // Not in the terminal's group: Ctrl-C there interrupts a call, it does not kill commands.
      detached: true,
      stdio: stdio(nothing),
      ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
    });
    const pipe = child.stdio[optionsFd];
    if (pipe instanceof Writable) {
      // It breaks when bubblewrap ends early, which its exit tells better.
      pipe.on("error", () => {});
      pipe.end(options.map((option) => `${option}\0`).join(""));
    }
    return child;
  } catch (error) {
    throw startFailure(error);
  } finally {
    closeSync(nothing);
  }
}

/** Three streams, the two pipes of bubblewrap, and nothing in place of what no command may have. */
function stdio(nothing: number): ("ignore" | "pipe" | number)[] {
  const streams: ("ignore" | "pipe" | number)[] = ["ignore", "pipe", "pipe", "pipe", "pipe"];
  for (const fd of inheritedFiles(optionsFd).sort((a, b) => a - b)) {
    while (streams.length < fd) streams.push("ignore");
    streams.push(nothing);
  }
  return streams;
}

/** What kept bubblewrap from being started; an error that has nothing to do with that as it is. */
function startFailure(error: unknown): unknown {
  if (hasIoCode(error, "E2BIG")) {
    const message = "the command is too long for the system; put it into a file and run that";
    return new InvalidInputError(message, { cause: error });
  }
  if (error instanceof TypeError)
    return new InvalidInputError("the command holds a NUL character", { cause: error });
  if (ioCode(error) === undefined) return error;
  const message = `cannot start bubblewrap (${ioReason(error)}); nothing was run`;
  return new StoreUnavailableError(message, { cause: error });
}

function readable(child: ChildProcess, fd: number): Readable {
  const stream = child.stdio[fd];
  // Of a child that could not be started there is nothing to read.
  return stream instanceof Readable ? stream : Readable.from([]);
}

function collect(stream: Readable, outputBytes: number): CappedOutput {
  const output = new CappedOutput(outputBytes);
  stream.on("data", (chunk: Buffer) => output.push(chunk));
  return output;
}

/**
 * Ends a sandbox from its first process on: with that the kernel ends all others, and bubblewrap waits for it. To end
 * bubblewrap itself would leave a sandbox that is only being set up waiting for it forever.
 */
class Ending {
  readonly #child: ChildProcess;
  readonly #status: BwrapStatus;
  #grace: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, status: BwrapStatus) {
    this.#child = child;
    this.#status = status;
  }

  /** Whether there was still something to end. */
  begin(): boolean {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return false;
    if (this.#status.hasEnded) return false;
    this.#grace ??= setTimeout(() => this.#child.kill("SIGKILL"), graceMs);
    this.#status.whenStarted(() => {
      const first = this.#status.firstProcess(pid);
      if (first !== undefined) kill(first);
    });
    return true;
  }

  over(): void {
    clearTimeout(this.#grace);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended by itself.
  }
}
