import { setImmediate } from "node:timers/promises";

/** Limits of one search; a record that was begun is read to its end. */
export interface SearchLimits {
  readonly records: number;
  readonly chars: number;
  readonly ms: number;
}

/** Default limits. */
export const SEARCH_LIMITS: SearchLimits = {
  records: 20_000,
  chars: 64 * 1_048_576,
  ms: 10_000,
};

/** Work after which a search yields to the event loop: a few milliseconds. */
const STRIDE_RECORDS = 100;
const STRIDE_CHARS = 262_144;

/** Tracks the work of a search against its limits, and yields to the event loop. */
export class SearchBudget {
  readonly #limits: SearchLimits;
  readonly #signal: AbortSignal | undefined;
  readonly #end: number;
  #records = 0;
  #chars = 0;
  #breakAt = { records: STRIDE_RECORDS, chars: STRIDE_CHARS };

  constructor(limits: SearchLimits, signal: AbortSignal | undefined) {
    this.#limits = limits;
    this.#signal = signal;
    this.#end = performance.now() + limits.ms;
  }

  /** True when a limit is reached: the search then ends with the hits it has. */
  get isSpent(): boolean {
    const { records, chars } = this.#limits;
    return this.#records >= records || this.#chars >= chars || performance.now() >= this.#end;
  }

  /**
   * Records work done, and yields to the event loop when it is due.
   *
   * @throws the reason of the signal, once it is aborted
   */
  async spend(records: number, chars: number): Promise<void> {
    this.#records += records;
    this.#chars += chars;
    if (this.#records >= this.#breakAt.records || this.#chars >= this.#breakAt.chars) {
      await setImmediate();
      this.#breakAt = {
        records: this.#records + STRIDE_RECORDS,
        chars: this.#chars + STRIDE_CHARS,
      };
    }
    this.#signal?.throwIfAborted();
  }
}
