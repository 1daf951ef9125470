import { setImmediate } from "node:timers/promises";

/** How much one search looks at, at most; a record that it has begun it finishes. */
export interface SearchLimits {
  readonly records: number;
  readonly chars: number;
  readonly ms: number;
}

/** The limits of searches outside tests. */
export const SEARCH_LIMITS: SearchLimits = {
  records: 20_000,
  chars: 64 * 1_048_576,
  ms: 10_000,
};

/** After so much a search lets others run: a few milliseconds' work. */
const STRIDE_RECORDS = 100;
const STRIDE_CHARS = 262_144;

/** How far a search may go, and its breaks. */
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

  /** Whether it has looked at enough: it then ends with what it found. */
  get isSpent(): boolean {
    const { records, chars } = this.#limits;
    return this.#records >= records || this.#chars >= chars || performance.now() >= this.#end;
  }

  /**
   * Notes what was looked at, and lets others run when it is time to.
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
