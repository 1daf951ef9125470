/** Runs tasks of the same key one after another, of different keys side by side. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const result = before.then(task, task);
    // A failure is the caller's to handle; here only the order matters.
    const settled = result.catch(() => undefined);
    this.#last.set(key, settled);
    try {
      return await result;
    } finally {
      if (this.#last.get(key) === settled) this.#last.delete(key);
    }
  }
}
