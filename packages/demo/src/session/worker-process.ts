import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { AgentEvent } from "@holdfast/core";
import type { WorkerCommand, WorkerMessage, WorkerOptions } from "./worker-protocol.js";

/** A worker that takes longer than this hangs, and is killed. */
const ANSWER_MS = 60_000;

/** Answer of a worker to a turn. */
export type WorkerReply = Extract<WorkerMessage, { type: "reply" }>;

/** Handle on a process that works on the session. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #onEvent: (event: AgentEvent) => void;
  readonly #exit: Promise<NodeJS.Signals | number | null>;
  #waiting: { resolve(message: WorkerMessage): void; reject(error: Error): void } | undefined;
  #stderr = "";

  private constructor(options: WorkerOptions, onEvent: (event: AgentEvent) => void) {
    this.#onEvent = onEvent;
    // Options of this process (an inspector port, a test runner's loader) are not meant for the worker.
    this.#child = fork(fileURLToPath(import.meta.resolve("#worker")), [JSON.stringify(options)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2_000);
    });
    this.#child.on("message", (message) => this.#receive(message as WorkerMessage));
    this.#exit = once(this.#child, "close").then(
      ([code, signal]: (NodeJS.Signals | number | null)[]) => signal ?? code ?? null,
    );
    const kill = (): void => void this.#child.kill("SIGKILL");
    // Before the listener that removes the files the worker writes to.
    process.prependOnceListener("exit", kill);
    this.#exit.finally(() => process.removeListener("exit", kill)).catch(() => undefined);
    this.#exit.then(
      (how) => this.#fail(`ended with ${how}${this.#stderr === "" ? "" : `: ${this.#stderr}`}`),
      (error: unknown) => this.#fail(String(error)),
    );
  }

  /** Starts a worker and waits until it is ready. */
  static async start(
    options: WorkerOptions,
    onEvent: (event: AgentEvent) => void,
    signal: AbortSignal,
  ): Promise<WorkerProcess> {
    const worker = new WorkerProcess(options, onEvent);
    // Also kills a worker that is still starting.
    signal.addEventListener("abort", () => worker.#child.kill("SIGKILL"), { once: true });
    if (signal.aborted) worker.#child.kill("SIGKILL");
    await worker.#next();
    return worker;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Has the worker answer a turn. */
  async ask(turn: Omit<Extract<WorkerCommand, { type: "turn" }>, "type">): Promise<WorkerReply> {
    const answer = this.#next();
    this.#send({ type: "turn", ...turn });
    const message = await answer;
    if (message.type !== "reply")
      throw new Error(`worker ${this.pid} answered with ${message.type}`);
    return message;
  }

  /** Kills the worker as `kill -9` does and returns the signal or code it ended with. */
  async kill9(): Promise<NodeJS.Signals | number | null> {
    this.#child.kill("SIGKILL");
    return this.#exit;
  }

  /** Lets the worker finish its background work and exit. */
  async end(): Promise<void> {
    // Rejects when the agent cannot be closed, or not in time.
    const failure = this.#next();
    this.#send({ type: "end" });
    const how = await Promise.race([this.#exit, failure.then(({ type }) => type)]);
    if (how !== 0) throw new Error(`worker ${this.pid} ended with ${how}: ${this.#stderr}`);
  }

  #send(command: WorkerCommand): void {
    // A process that has died cannot be reached; its exit rejects the pending wait.
    this.#child.send(command, () => undefined);
  }

  #next(): Promise<WorkerMessage> {
    const message = new Promise<WorkerMessage>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    const timer = setTimeout(() => {
      this.#fail(`did not answer within ${ANSWER_MS} ms`);
      this.#child.kill("SIGKILL");
    }, ANSWER_MS);
    message.finally(() => clearTimeout(timer)).catch(() => undefined);
    return message;
  }

  #receive(message: WorkerMessage): void {
    if (message.type === "event") this.#onEvent(message.event);
    else if (message.type === "failed") this.#fail(`failed: ${message.message}`);
    else this.#waiting?.resolve(message);
  }

  #fail(how: string): void {
    this.#waiting?.reject(new Error(`worker ${this.pid} ${how}`));
  }
}
