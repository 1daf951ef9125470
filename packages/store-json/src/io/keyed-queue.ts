/** Runs work on one key after the other, work on different keys side by side. A key nobody uses takes no memory. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const result = before === undefined ? work() : before.then(work);
    const tail: Promise<void> = result.then(ignore, ignore).then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    this.#tails.set(key, tail);
    return result;
  }

  /** Resolves when everything queued so far has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values());
  }
}

function ignore(): void {}
