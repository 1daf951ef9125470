import { setImmediate } from "node:timers/promises";

const MAX_RECORDS = 20_000;
const MAX_CHARS = 64 * 1_048_576;
const MAX_MS = 10_000;

/** After so much a search lets others run: a few milliseconds' work. */
const STRIDE_RECORDS = 100;
const STRIDE_CHARS = 262_144;

/** How far a search may go, and its breaks. */
export class SearchBudget {
  readonly #signal: AbortSignal | undefined;
  readonly #end: number = performance.now() + MAX_MS;
  #records = 0;
  #chars = 0;
  #breakAt = { records: STRIDE_RECORDS, chars: STRIDE_CHARS };

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Whether it has looked at enough: it then ends with what it found. */
  get isSpent(): boolean {
    return (
      this.#records >= MAX_RECORDS || this.#chars >= MAX_CHARS || performance.now() > this.#end
    );
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
