import { Worker } from "node:worker_threads";
import type { ScanAnswer, ScanOrder } from "./scan-order.js";
import type { ScanFinds, ScanRange } from "./scan-range.js";

/** It holds a window and some offsets. */
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/** One thread of a crew. While it has nothing to do it keeps no process alive. */
export class CrewMember {
  readonly #worker: Worker;
  readonly #orders = new Map<number, (finds: readonly ScanFinds[] | null) => void>();
  #lastId = 0;
  #isOver = false;

  /**
   * @param onLost - told once when the thread is gone, unless it was ended
   * @throws what Node throws where there are no threads to be had
   */
  constructor(script: URL, onLost: (member: CrewMember, error: unknown) => void) {
    // Without the flags of the process: they may be for its own modules.
    this.#worker = new Worker(script, { execArgv: [], name: "log-search", resourceLimits: LIMITS });
    const lose = (error: unknown): void => {
      if (this.#isOver) return;
      this.end();
      onLost(this, error);
    };
    this.#worker.on("message", ({ id, finds }: ScanAnswer) => this.#settle(id, finds));
    this.#worker.on("error", lose);
    this.#worker.on("exit", (code) => lose(new Error(`the thread exited with code ${code}`)));
    this.#worker.unref();
  }

  /** How many orders it has. */
  get pending(): number {
    return this.#orders.size;
  }

  get isIdle(): boolean {
    return this.#orders.size === 0;
  }

  /** What is found in each of the ranges; null when it cannot tell, or died meanwhile. */
  scan(text: string, ranges: readonly ScanRange[]): Promise<readonly ScanFinds[] | null> {
    if (this.#isOver) return Promise.resolve(null);
    const order: ScanOrder = { id: ++this.#lastId, text, ranges };
    return new Promise((resolve) => {
      this.#orders.set(order.id, resolve);
      this.#worker.ref();
      this.#worker.postMessage(order);
    });
  }

  /** Ends the thread. What it has not answered it will not. */
  end(): void {
    this.#isOver = true;
    void this.#worker.terminate();
    for (const id of this.#orders.keys()) this.#settle(id, null);
  }

  #settle(id: number, finds: readonly ScanFinds[] | null): void {
    this.#orders.get(id)?.(finds);
    this.#orders.delete(id);
    if (this.isIdle) this.#worker.unref();
  }
}
