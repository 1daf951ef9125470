/** Lock that many holders share or one holds exclusively, granted in the order of requests. */
export class ReadWriteLock {
  readonly #waiting: { readonly isExclusive: boolean; readonly start: () => void }[] = [];
  #sharers = 0;
  #isExclusive = false;

  /** True when the lock is free and no request waits. */
  get isIdle(): boolean {
    return this.#sharers === 0 && !this.#isExclusive && this.#waiting.length === 0;
  }

  /** Runs `work` beside other sharers. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    await this.#acquire(false);
    try {
      return await work();
    } finally {
      this.#sharers--;
      this.#grant();
    }
  }

  /** Runs `work` while no other holder runs. */
  async exclusive<T>(work: () => Promise<T>): Promise<T> {
    await this.#acquire(true);
    try {
      return await work();
    } finally {
      this.#isExclusive = false;
      this.#grant();
    }
  }

  #acquire(isExclusive: boolean): Promise<void> {
    return new Promise((start) => {
      this.#waiting.push({ isExclusive, start });
      this.#grant();
    });
  }

  #grant(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#isExclusive || (first.isExclusive && this.#sharers > 0)) return;
      this.#waiting.shift();
      if (first.isExclusive) this.#isExclusive = true;
      else this.#sharers++;
      first.start();
    }
  }
}
