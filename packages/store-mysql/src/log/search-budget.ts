/** How much one search looks at, at most; what it has begun it finishes. */
export interface SearchLimits {
  /** Records; most of them only by the server. */
  readonly records: number;
  /** Bytes of records and long texts that come over the wire. */
  readonly bytes: number;
  readonly ms: number;
  /** Records of one statement: so few that it ends long before its time is up. */
  readonly windowRecords: number;
}

/** The limits of searches where a command may take `commandTimeoutMs`. */
export function searchLimits(commandTimeoutMs: number): SearchLimits {
  return {
    records: 200_000,
    bytes: 67_108_864,
    // The statement that is under way when the time is up has its own.
    ms: commandTimeoutMs / 2,
    windowRecords: 512,
  };
}

/** How much more a search may look at. */
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
   * Whether to go on.
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
