import { setImmediate as yieldToOthers } from "node:timers/promises";

/** Long enough to get on, short enough that other work does not notice. */
const SLICE_MS = 8;

/** Settings of a {@link YieldingClock}. */
export interface YieldingClockOptions {
  /** Time for the whole work. @default no limit */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Paces long work on the main thread: yields to the event loop every few milliseconds, and says when time is up.
 *
 * @example
 * const clock = new YieldingClock({ timeoutMs: 5_000, signal });
 * for (const line of lines) {
 *   await clock.tick();
 *   if (clock.isUp) break;
 * }
 */
export class YieldingClock {
  readonly #end: number;
  readonly #signal: AbortSignal | undefined;
  #sliceEnd = performance.now() + SLICE_MS;

  constructor({ timeoutMs = Number.POSITIVE_INFINITY, signal }: YieldingClockOptions = {}) {
    this.#end = performance.now() + timeoutMs;
    this.#signal = signal;
  }

  /** Whether the time for the work is over. */
  get isUp(): boolean {
    return performance.now() >= this.#end;
  }

  /** Whether it is time to yield; cheap enough to be asked for every line. */
  get isDue(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  /**
   * Yields when it is time to; returns `undefined`, with nothing to await, when it is not.
   *
   * @throws what the signal was aborted with
   */
  tick(): Promise<void> | undefined {
    return this.isDue ? this.#yield() : undefined;
  }

  async #yield(): Promise<void> {
    await yieldToOthers();
    this.#signal?.throwIfAborted();
    this.#sliceEnd = performance.now() + SLICE_MS;
  }
}
