import { type ChildProcess, fork } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { eventually } from "@holdfast/testing";
import type { NodeStoreChoice } from "./node/open-node-store.mjs";
import type { Operation, Told } from "./operation.js";

/** Instants at which a node can signal itself. */
export type CrashPoint =
  | "granted"
  | "model"
  | "tool"
  | "tool-end"
  /** A tool has ended, and another one of the same step runs for some time yet. */
  | "tool-end-beside-another"
  | "before-log"
  | "after-log"
  | "before-save"
  | "after-save";

/** Settings of one node process. */
export interface NodeSettings {
  readonly name: string;
  readonly store: NodeStoreChoice;
  readonly persistence: "call" | "step";
  readonly tracePath: string;
  readonly saveDeadlineMs: number;
  /** Time that running calls get when the node is told to end. */
  readonly shutdownMs: number;
}

/** Message of a node: it is ready, it is armed no more, or the result of an operation. */
interface NodeMessage {
  readonly ready?: true;
  readonly disarmed?: true;
  readonly op?: string;
  readonly told?: Told;
}

/** One node process of a history; its successor is another one. */
export class NodeProcess {
  readonly name: string;
  readonly exited: Promise<void>;
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<string, (told: Told) => void>();
  readonly #disarming: (() => void)[] = [];
  #isOver = false;
  #isReady = false;
  #crash: string | null = null;
  #stderr = "";

  constructor(settings: NodeSettings, env: Readonly<Record<string, string>> = {}) {
    this.name = settings.name;
    this.#child = fork(
      fileURLToPath(new URL("node/main.mjs", import.meta.url)),
      [JSON.stringify(settings)],
      { env: plainEnvironment(env), execArgv: [], stdio: ["ignore", "ignore", "pipe", "ipc"] },
    );
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-4_000);
    });
    const exit = new Promise<number | null>((resolve) => {
      this.#child.once("exit", resolve);
    });
    this.exited = exit.then((code) => {
      this.#isOver = true;
      if (code !== null) this.#crash = `exit code ${code}: ${this.#stderr}`;
      for (const answer of this.#waiting.values()) answer({ lost: true });
      this.#waiting.clear();
    });
    this.ready = new Promise((resolve, reject) => {
      this.#child.on("message", (message: NodeMessage) => {
        if (message.ready === true) {
          this.#isReady = true;
          resolve();
        } else if (message.disarmed === true) this.#disarming.shift()?.();
        else this.#answered(message.op ?? "", message.told ?? {});
      });
      void this.exited.then(() => reject(new Error(`${this.name} ended: ${this.#stderr}`)));
    });
    this.ready.catch(() => undefined);
  }

  get isUp(): boolean {
    return this.#isReady && !this.#isOver;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** Reason why it ended, when that was not a signal; null otherwise. */
  get crash(): string | null {
    return this.#crash;
  }

  /** Carries out an operation; resolves to `lost` when the node ends before it answers. */
  carryOut(operation: Operation): Promise<Told> {
    if (this.#isOver) return Promise.resolve({ lost: true });
    return new Promise((resolve) => {
      this.#waiting.set(operation.op, resolve);
      this.#send({ operation });
    });
  }

  /** The node signals itself the next time it comes to `point`, or some time after that. */
  arm(point: CrashPoint, signal: "SIGKILL" | "SIGSTOP", delayMs = 0): void {
    this.#send({ arm: { point, signal, delayMs } });
  }

  /** Resolves when the node is armed no more, or has ended. */
  disarm(): Promise<void> {
    const disarmed = new Promise<void>((resolve) => this.#disarming.push(resolve));
    this.#send({ disarm: true });
    return Promise.race([disarmed, this.exited]);
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.#isOver) this.#child.kill(signal);
  }

  /** Resolves to true once the process is stopped, to false when it ends or does not stop in time. */
  async stopped(timeoutMs: number): Promise<boolean> {
    try {
      await eventually(async () => this.#isOver || (await this.#isStopped()), { timeoutMs });
    } catch {
      return false;
    }
    return !this.#isOver;
  }

  async kill9(): Promise<void> {
    this.signal("SIGKILL");
    await this.exited;
  }

  async #isStopped(): Promise<boolean> {
    const stat = await readFile(`/proc/${this.#child.pid}/stat`, "utf8");
    return /\) T /.test(stat);
  }

  #answered(op: string, told: Told): void {
    this.#waiting.get(op)?.(told);
    this.#waiting.delete(op);
  }

  #send(message: object): void {
    // A message to a node that was just killed is lost like any other.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }
}

// A node is a plain program: told that vitest runs it, the testing package would look for the runner there.
function plainEnvironment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const plain = Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST"));
  return { ...Object.fromEntries(plain), ...env };
}
