/** At most this much is looked at in one search. */
export const SEARCH_LIMITS = {
  /** The sessions used last. */
  sessions: 4_096,
  /** Records, newest first; most of them only by the server. */
  records: 200_000,
  /** Bytes of records and long texts that come over the wire. */
  bytes: 67_108_864,
} as const;

/** How much more a search may look at; what it found by the end of it is its result. */
export class SearchBudget {
  readonly #signal: AbortSignal | undefined;
  readonly #deadline: number;
  #records: number = SEARCH_LIMITS.records;
  #bytes: number = SEARCH_LIMITS.bytes;

  constructor(timeoutMs: number, signal: AbortSignal | undefined) {
    this.#deadline = performance.now() + timeoutMs;
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
