/** Limits of one search; a record that was begun is read to its end. */
export interface SearchLimits {
  /** Records scanned, most of them only by the server. */
  readonly records: number;
  /** Bytes of records and long texts sent by the server. */
  readonly bytes: number;
  readonly ms: number;
  /** Records per statement: few enough that it ends long before its deadline. */
  readonly windowRecords: number;
}

/** Returns the default limits for a `commandTimeoutMs`. */
export function searchLimits(commandTimeoutMs: number): SearchLimits {
  return {
    records: 200_000,
    bytes: 67_108_864,
    // A statement in progress at that time has its own deadline.
    ms: commandTimeoutMs / 2,
    windowRecords: 512,
  };
}

/** Tracks how much of its limits a search has left. */
export class SearchBudget {
  readonly #signal: AbortSignal | undefined;
  readonly #deadline: number;
  #records: number;
  #bytes: number;

  constructor({ records, bytes, ms }: SearchLimits, signal: AbortSignal | undefined) {
    this.#records = records;
    this.#bytes = bytes;
    this.#deadline = performance.now() + ms;
    this.#signal = signal;
  }

  /**
   * Tells whether the search may continue.
   *
   * @throws the reason of the signal, once it is aborted
   */
  hasMore(): boolean {
    this.#signal?.throwIfAborted();
    return this.#records > 0 && this.#bytes > 0 && performance.now() < this.#deadline;
  }

  spendRecords(records: number): void {
    this.#records -= records;
  }

  spendBytes(bytes: number): void {
    this.#bytes -= bytes;
  }
}
