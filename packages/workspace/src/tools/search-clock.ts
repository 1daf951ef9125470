import { setImmediate as pause } from "node:timers/promises";

/** For how long a search works before it lets others. */
const TURN_MS = 10;

/** Says when a search must end, and lets other work go on until then. */
export class SearchClock {
  readonly #end: number;
  readonly #signal: AbortSignal;
  #turnEnd = performance.now() + TURN_MS;

  constructor(timeoutMs: number, signal: AbortSignal) {
    this.#end = performance.now() + timeoutMs;
    this.#signal = signal;
  }

  /** Whether it is time to ask {@link isUp}; cheap enough to be asked for every line. */
  get isDue(): boolean {
    return performance.now() >= this.#turnEnd;
  }

  /** @throws what the signal was aborted with */
  async isUp(): Promise<boolean> {
    const now = performance.now();
    if (now >= this.#turnEnd) {
      await pause();
      this.#turnEnd = performance.now() + TURN_MS;
    }
    this.#signal.throwIfAborted();
    return now >= this.#end;
  }
}
