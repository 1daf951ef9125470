/** Lets calls on a slot join its line one after another, although each needs several statements on any connection. */
export class Arrivals {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `join` once all who came before have joined, or failed to. */
  async inOrder<T>(key: string, join: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(join, join);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
