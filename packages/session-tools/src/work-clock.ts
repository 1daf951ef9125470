import { setImmediate as pause } from "node:timers/promises";

/** For how long a tool works before it lets others. */
const TURN_MS = 8;

/** Says when a tool must come to its end, and lets other work go on until then. */
export class WorkClock {
  readonly #end: number;
  readonly #signal: AbortSignal;
  #turnEnd = performance.now() + TURN_MS;

  constructor(timeoutMs: number, signal: AbortSignal) {
    this.#end = performance.now() + timeoutMs;
    this.#signal = signal;
  }

  /** Whether the time for the answer is over. */
  get isUp(): boolean {
    return performance.now() >= this.#end;
  }

  /**
   * Lets others work when it is their turn; cheap enough to be called for every line.
   *
   * @throws what the signal was aborted with
   */
  tick(): Promise<void> | undefined {
    return performance.now() >= this.#turnEnd ? this.#pause() : undefined;
  }

  async #pause(): Promise<void> {
    await pause();
    this.#signal.throwIfAborted();
    this.#turnEnd = performance.now() + TURN_MS;
  }
}
