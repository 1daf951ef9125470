import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { AgentEvent } from "@holdfast/core";
import type { News, Order, WorkerOptions } from "./worker-protocol.js";

const program = fileURLToPath(new URL("./worker.js", import.meta.url));

/** No turn takes this long on any machine; a worker that hangs is killed. */
const ANSWER_MS = 60_000;

/** What a worker answered. */
export type WorkerReply = Extract<News, { type: "reply" }>;

/** A process that works on the session, as seen from the one that started it. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #onEvent: (event: AgentEvent) => void;
  readonly #exit: Promise<NodeJS.Signals | number | null>;
  #waiting: { resolve(news: News): void; reject(error: Error): void } | undefined;
  #stderr = "";

  private constructor(options: WorkerOptions, onEvent: (event: AgentEvent) => void) {
    this.#onEvent = onEvent;
    // Options of this process (an inspector's port, a test runner's loader) are not the worker's.
    this.#child = fork(program, [JSON.stringify(options)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2_000);
    });
    this.#child.on("message", (news) => this.#take(news as News));
    this.#exit = once(this.#child, "close").then(
      ([code, signal]: (NodeJS.Signals | number | null)[]) => signal ?? code ?? null,
    );
    const kill = (): void => void this.#child.kill("SIGKILL");
    // First of all, so that nobody writes any more where files are removed next.
    process.prependOnceListener("exit", kill);
    this.#exit.finally(() => process.removeListener("exit", kill)).catch(() => undefined);
    this.#exit.then(
      (how) => this.#fail(`ended with ${how}${this.#stderr === "" ? "" : `: ${this.#stderr}`}`),
      (error: unknown) => this.#fail(String(error)),
    );
  }

  /** Starts a worker and waits until it can be asked. */
  static async start(
    options: WorkerOptions,
    onEvent: (event: AgentEvent) => void,
    signal: AbortSignal,
  ): Promise<WorkerProcess> {
    const worker = new WorkerProcess(options, onEvent);
    // In any case nothing of it outlives this process.
    signal.addEventListener("abort", () => worker.#child.kill("SIGKILL"), { once: true });
    if (signal.aborted) worker.#child.kill("SIGKILL");
    await worker.#next();
    return worker;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Has a turn answered. */
  async ask(turn: Omit<Extract<Order, { type: "turn" }>, "type">): Promise<WorkerReply> {
    const answer = this.#next();
    this.#send({ type: "turn", ...turn });
    const news = await answer;
    if (news.type !== "reply") throw new Error(`worker ${this.pid} answered with ${news.type}`);
    return news;
  }

  /** Kills it as `kill -9` does; returns the signal that ended it. */
  async kill9(): Promise<NodeJS.Signals | number | null> {
    this.#child.kill("SIGKILL");
    return this.#exit;
  }

  /** Lets it finish what it does in the background and end by itself. */
  async end(): Promise<void> {
    // Also one that cannot close, or takes for ever to.
    const failure = this.#next();
    this.#send({ type: "end" });
    const how = await Promise.race([this.#exit, failure.then(({ type }) => type)]);
    if (how !== 0) throw new Error(`worker ${this.pid} ended with ${how}: ${this.#stderr}`);
  }

  #send(order: Order): void {
    // A process that died meanwhile cannot be told anything; its end is what fails the wait.
    this.#child.send(order, () => undefined);
  }

  #next(): Promise<News> {
    const news = new Promise<News>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    const timer = setTimeout(() => {
      this.#fail(`did not answer within ${ANSWER_MS} ms`);
      this.#child.kill("SIGKILL");
    }, ANSWER_MS);
    news.finally(() => clearTimeout(timer)).catch(() => undefined);
    return news;
  }

  #take(news: News): void {
    if (news.type === "event") this.#onEvent(news.event);
    else if (news.type === "failed") this.#fail(`failed: ${news.message}`);
    else this.#waiting?.resolve(news);
  }

  #fail(how: string): void {
    this.#waiting?.reject(new Error(`worker ${this.pid} ${how}`));
  }
}
