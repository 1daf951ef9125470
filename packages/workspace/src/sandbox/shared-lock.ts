/** Lets many share, or one be alone, in the order they came. */
export class SharedLock {
  readonly #waiting: { readonly alone: boolean; readonly start: () => void }[] = [];
  #sharing = 0;
  #alone = false;

  /** Whether nobody holds it and nobody waits. */
  get isIdle(): boolean {
    return this.#sharing === 0 && !this.#alone && this.#waiting.length === 0;
  }

  /** Runs `work` beside others that share. */
  async share<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn(false);
    try {
      return await work();
    } finally {
      this.#sharing--;
      this.#next();
    }
  }

  /** Runs `work` while nothing else runs. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn(true);
    try {
      return await work();
    } finally {
      this.#alone = false;
      this.#next();
    }
  }

  #turn(alone: boolean): Promise<void> {
    return new Promise((start) => {
      this.#waiting.push({ alone, start });
      this.#next();
    });
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#alone || (first.alone && this.#sharing > 0)) return;
      this.#waiting.shift();
      if (first.alone) this.#alone = true;
      else this.#sharing++;
      first.start();
    }
  }
}
