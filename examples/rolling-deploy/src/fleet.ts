import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A process that takes calls. */
export interface Worker {
  readonly pid: number;
  readonly port: number;
}

/** The processes that are up, and how they are replaced. */
export class Fleet {
  readonly #storeArgs: readonly [url: string, prefix: string];
  readonly #workers: (Worker & { readonly process: ChildProcess })[] = [];

  constructor(url: string, prefix: string) {
    this.#storeArgs = [url, prefix];
  }

  /** Those that take calls right now. */
  get workers(): readonly Worker[] {
    return this.#workers;
  }

  async add(): Promise<Worker> {
    const program = fileURLToPath(new URL("./worker.js", import.meta.url));
    const child = spawn(process.execPath, [program, ...this.#storeArgs], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout });
    const [port] = (await Promise.race([
      once(lines, "line"),
      once(child, "exit").then(([code]) => {
        throw new Error(`a worker ended with ${code} before it took calls`);
      }),
    ])) as [string];
    const worker = { pid: child.pid ?? -1, port: Number(port), process: child };
    this.#workers.push(worker);
    return worker;
  }

  /** Asks the oldest process to go (SIGTERM) and waits until it did. */
  async removeOldest(): Promise<Worker> {
    const old = this.#workers[0];
    if (old === undefined) throw new Error("there is no worker to remove");
    await this.#remove(old);
    return old;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => this.#remove(worker)));
  }

  async #remove(worker: Worker & { readonly process: ChildProcess }): Promise<void> {
    this.#workers.splice(this.#workers.indexOf(worker), 1);
    const exit = once(worker.process, "exit");
    worker.process.kill("SIGTERM");
    const [code, signal] = await exit;
    if (code !== 0) throw new Error(`worker ${worker.pid} ended with ${code ?? signal}`);
  }
}
