/**
 * Lets calls join a session's queue in the order in which they were made, although each has something to do first that
 * may take one longer than another.
 */
export class Arrivals {
  /** The latest arrival by session: resolves once it has joined. Empty when nothing is on its way. */
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Runs `prepare`, then `enter`, once every earlier arrival has entered. The result of `enter` is not waited for before
   * the next one may enter.
   */
  async arrive<T>(key: string, prepare: () => Promise<void>, enter: () => Promise<T>): Promise<T> {
    const earlier = this.#last.get(key);
    let entered = () => {};
    const mine = new Promise<void>((resolve) => {
      entered = resolve;
    });
    this.#last.set(key, mine);
    try {
      await earlier;
      await prepare();
      // Not awaited here: a call that waits in the queue must not keep the next from joining it.
      return enter();
    } finally {
      entered();
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
