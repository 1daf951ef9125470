import { setImmediate as yieldToOthers } from "node:timers/promises";

/** Time between two yields: long enough to make progress, short enough not to delay other work. */
const SLICE_MS = 8;

/** Options of a {@link YieldingClock}. */
export interface YieldingClockOptions {
  /** Time limit of the whole work. @default no limit */
  readonly timeoutMs?: number | undefined;
  /** Makes {@link YieldingClock.tick} throw once it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Paces long work on the main thread: yields to the event loop every few milliseconds, and tells when the time is up.
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

  /** `true` once the time limit is over. */
  get isUp(): boolean {
    return performance.now() >= this.#end;
  }

  /** `true` when it is time to yield; cheap enough to check for every line. */
  get isDue(): boolean {
    return performance.now() >= this.#sliceEnd;
  }

  /**
   * Yields when it is time to; otherwise returns `undefined`, with nothing to await.
   *
   * @throws the reason of the signal once it is aborted
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
