/** Messages and bytes that are read from a server. */
export interface ReadLimits {
  readonly maxMessagesPerSecond: number;
  readonly maxBytesPerSecond: number;
}

const lineFeed = 0x0a;

/**
 * Token bucket of one second for what a server sends. A server that sends more is read more slowly, so that it is the one
 * that waits: this process neither buffers for it nor spends its time on it.
 */
export class ReadRate {
  readonly #messages: Bucket;
  readonly #bytes: Bucket;

  constructor({ maxMessagesPerSecond, maxBytesPerSecond }: ReadLimits) {
    this.#messages = new Bucket(maxMessagesPerSecond);
    this.#bytes = new Bucket(maxBytesPerSecond);
  }

  /** Counts what was read and returns the milliseconds to wait before reading on. */
  after(messages: number, bytes: number): number {
    return Math.max(this.#messages.take(messages), this.#bytes.take(bytes));
  }
}

/** Returns the number of lines that end in a chunk. */
export function countLines(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) lines++;
  return lines;
}

/** Goes into debt for what was read already, and has it paid off by waiting. */
class Bucket {
  readonly #perSecond: number;
  #left: number;
  #at = performance.now();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
    this.#left = perSecond;
  }

  take(amount: number): number {
    const now = performance.now();
    const gained = ((now - this.#at) / 1_000) * this.#perSecond;
    this.#at = now;
    this.#left = Math.min(this.#perSecond, this.#left + gained) - amount;
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left / this.#perSecond) * 1_000);
  }
}
