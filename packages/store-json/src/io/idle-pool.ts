/** Time without use after which an idle thing is closed. */
const IDLE_MS = 5_000;
/** Idle things kept at most. */
const MAX_IDLE = 256;

/**
 * Keeps what is costly to open for its next use: up to 256 of a kind, each until it was idle for five seconds. The taker
 * has it alone, and puts it back or closes it.
 */
export class IdlePool<T> {
  readonly #close: (value: T) => Promise<unknown>;
  /** The one used longest ago first. */
  readonly #idle = new Map<string, { readonly value: T; readonly since: number }>();
  #timer: NodeJS.Timeout | undefined;

  /** @param close - closes one that is not kept any more; its failure does not matter */
  constructor(close: (value: T) => Promise<unknown>) {
    this.#close = close;
  }

  has(key: string): boolean {
    return this.#idle.has(key);
  }

  take(key: string): T | undefined {
    const found = this.#idle.get(key);
    this.#idle.delete(key);
    return found?.value;
  }

  /** Takes the one that was used longest ago, if there are at least so many. */
  takeOldest(atLeast: number): T | undefined {
    const [oldest] = this.#idle.keys();
    return oldest === undefined || this.#idle.size < atLeast ? undefined : this.take(oldest);
  }

  put(key: string, value: T): void {
    const replaced = this.take(key);
    if (replaced !== undefined) void this.#end(replaced);
    this.#idle.set(key, { value, since: performance.now() });
    if (this.#idle.size > MAX_IDLE) {
      const [oldest = ""] = this.#idle.keys();
      void this.#end(this.take(oldest));
    }
    this.#timer ??= setTimeout(() => this.#closeIdle(), IDLE_MS).unref();
  }

  /** Closes every idle one. */
  async clear(): Promise<void> {
    const values = [...this.#idle.values()];
    this.#idle.clear();
    await Promise.all(values.map(({ value }) => this.#end(value)));
  }

  #closeIdle(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [key, { since }] of this.#idle) {
      const leftMs = since + IDLE_MS - now;
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.#closeIdle(), leftMs).unref();
        return;
      }
      void this.#end(this.take(key));
    }
  }

  async #end(value: T | undefined): Promise<void> {
    if (value !== undefined) await this.#close(value).catch(() => undefined);
  }
}
