/**
 * Runs work on one key in order, and work on different keys in parallel. A key without work takes no memory.
 *
 * @example
 * const queue = new KeyedQueue();
 * await queue.run(path, () => rewrite(path));
 */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `work` once everything queued for `key` before it has settled; a failure does not stop the next. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const result = before === undefined ? start(work) : before.then(work);
    const tail: Promise<void> = result.then(ignore, ignore).then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
    return result;
  }

  /** Resolves when everything queued so far has settled. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}

/** Runs work at once; what it throws becomes a rejection. */
async function start<T>(work: () => Promise<T>): Promise<T> {
  return work();
}

function ignore(): void {}
