import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./server.js", import.meta.url));

/** Process that answers. */
export interface Member {
  readonly pid: number;
  readonly port: number;
}

/** The processes that answer: as many as wanted, whatever becomes of each. */
export class Fleet {
  readonly #children = new Map<ChildProcess, Member>();
  #isStopping = false;

  /** Those that take requests right now. */
  get members(): readonly Member[] {
    return [...this.#children.values()];
  }

  /** Starts a process, and another one whenever it ends by itself. */
  async add(): Promise<void> {
    const child = fork(program);
    child.once("exit", () => {
      const wasUp = this.#children.delete(child);
      if (wasUp && !this.#isStopping) void this.add();
    });
    const [port] = (await Promise.race([
      once(child, "message"),
      once(child, "exit").then(([code]) => {
        throw new Error(`a server ended with ${code} before it took requests`);
      }),
    ])) as [number];
    this.#children.set(child, { pid: child.pid ?? -1, port });
  }

  /** Asks all of them to go, and waits until they did. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const exits = [...this.#children.keys()].map((child) => {
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      return exit;
    });
    await Promise.all(exits);
  }
}
