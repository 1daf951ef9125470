import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import type { CommandResult } from "@holdfast/core/plugin-kit";
import { CappedOutput, LONGEST_TIMER_MS, startFailure } from "@holdfast/workspace/filesystem-kit";
import type { MemoryVolume } from "../files/memory-volume.js";
import type { SandboxUser } from "../options.js";
import { FILTER_FD, OPTIONS_FD, STATUS_FD } from "./bwrap-arguments.js";
import { BwrapStatus } from "./bwrap-status.js";
import { syscallFilter } from "./syscall-filter.js";

/** Sandbox to start, and the command to run in it. */
export interface BwrapRun {
  readonly bwrap: string;
  /** Options that bubblewrap reads from a pipe. */
  readonly options: readonly string[];
  readonly command: readonly string[];
  /** Memory volume that the workspace is in; undefined = it is on the disk. */
  readonly volume?: MemoryVolume | undefined;
  /** User that bubblewrap runs as; undefined = the user of this process. */
  readonly user?: SandboxUser | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly outputBytes: number;
  /** Called with the pid of the sandbox's first process on this machine. */
  readonly onStarted?: ((firstProcess: number) => void) | undefined;
}

/** Outcome of a run. */
export interface BwrapOutcome {
  readonly result: CommandResult;
  /** True when the sandbox was created; if not, `result.stderr` is the message of bubblewrap. */
  readonly wasSetUp: boolean;
}

/** Time that the kernel may take to end a whole sandbox before bubblewrap itself is killed too. */
const graceMs = 5_000;

/**
 * Runs a command in a sandbox. Resolves when every process of the sandbox has ended.
 *
 * @throws the reason of `signal` when that ended it
 * @throws InvalidInputError when the command cannot be passed to a program
 * @throws StoreUnavailableError when bubblewrap cannot be started
 * @throws ConfigurationError when the volume's holder has ended
 */
export async function runBwrap(run: BwrapRun): Promise<BwrapOutcome> {
  run.signal.throwIfAborted();
  const child = start(run);
  const status = new BwrapStatus(readable(child, STATUS_FD));
  const stdout = collect(readable(child, 1), run.outputBytes);
  const stderr = collect(readable(child, 2), run.outputBytes);
  const closed = once(child, "close");
  const termination = new Termination(child, status);
  status.whenStarted(() => {
    const first = child.pid === undefined ? undefined : status.firstProcess(child.pid);
    if (first !== undefined) run.onStarted?.(first);
  });
  let timedOut = false;
  const timer = setTimeout(
    () => {
      timedOut = termination.begin();
    },
    Math.min(run.timeoutMs, LONGEST_TIMER_MS),
  );
  const onAbort = (): void => void termination.begin();
  run.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const [exitCode, killedBy] = await closed.catch((error: unknown) => {
      throw startFailure("bubblewrap", error);
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
    termination.cancel();
    run.signal.removeEventListener("abort", onAbort);
  }
}

function start({ bwrap, options, command, user, volume }: BwrapRun): ChildProcess {
  const program = [bwrap, "--args", String(OPTIONS_FD), "--", ...command];
  const [file = bwrap, ...args] = volume?.enter(program) ?? program;
  const nothing = openSync("/dev/null", "r");
  try {
    const child = spawn(file, args, {
      cwd: "/",
      // Not in the terminal's process group: Ctrl-C there interrupts a call, it does not kill commands.
      detached: true,
      stdio: stdio(nothing),
      ...(user === undefined || volume !== undefined ? {} : { uid: user.uid, gid: user.gid }),
    });
    send(child, OPTIONS_FD, options.map((option) => `${option}\0`).join(""));
    send(child, FILTER_FD, syscallFilter() ?? "");
    return child;
  } catch (error) {
    throw startFailure("bubblewrap", error);
  } finally {
    closeSync(nothing);
  }
}

function send(child: ChildProcess, fd: number, content: string | Buffer): void {
  const pipe = child.stdio[fd];
  if (!(pipe instanceof Writable)) return;
  // It breaks when bubblewrap exits early, which its exit code reports.
  pipe.on("error", () => {});
  pipe.end(content);
}

/** Three streams, the pipes of bubblewrap, and `/dev/null` in place of every inherited file. */
function stdio(nothing: number): ("ignore" | "pipe" | number)[] {
  const streams: ("ignore" | "pipe" | number)[] = ["ignore", "pipe", "pipe", "pipe", "pipe"];
  streams.push(syscallFilter() === undefined ? "ignore" : "pipe");
  for (const fd of inheritedFiles(FILTER_FD).sort((a, b) => a - b)) {
    while (streams.length < fd) streams.push("ignore");
    streams.push(nothing);
  }
  return streams;
}

const CLOSE_ON_EXEC = 0o2000000;

/**
 * Returns the descriptors above `last` that this process inherited and that its children would inherit too. Node closes
 * its own and, up to the first gap, those it was given; descriptors after a gap (a pipe of make's, a directory) would be
 * passed on.
 */
function inheritedFiles(last: number): number[] {
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > last && isInherited(fd));
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The descriptor with which the directory was read.
    return false;
  }
}

function readable(child: ChildProcess, fd: number): Readable {
  const stream = child.stdio[fd];
  // A child that could not be started has no streams.
  return stream instanceof Readable ? stream : Readable.from([]);
}

function collect(stream: Readable, outputBytes: number): CappedOutput {
  const output = new CappedOutput(outputBytes);
  stream.on("data", (chunk: Buffer) => output.push(chunk));
  return output;
}

/**
 * Kills a sandbox by its first process: the kernel then kills all others, and bubblewrap waits for them. Killing
 * bubblewrap itself would leave a sandbox that is still being set up waiting for it forever.
 */
class Termination {
  readonly #child: ChildProcess;
  readonly #status: BwrapStatus;
  #grace: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, status: BwrapStatus) {
    this.#child = child;
    this.#status = status;
  }

  /** Kills the sandbox; returns false when it has already ended. */
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

  /** Stops waiting for the sandbox to end. */
  cancel(): void {
    clearTimeout(this.#grace);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}
