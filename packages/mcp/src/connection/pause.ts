/** A wait that somebody can shorten. It does not keep the process alive. */
export class Pause {
  readonly done: Promise<void>;
  readonly #began = performance.now();
  #finish: () => void = () => {};
  #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
    this.#timer = setTimeout(this.#finish, ms).unref();
  }

  /** Ends it once it has lasted `ms`, if it would last longer. */
  shortenTo(ms: number): void {
    const left = Math.max(0, ms - (performance.now() - this.#began));
    const earlier = setTimeout(() => this.end(), left).unref();
    void this.done.then(() => clearTimeout(earlier));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#finish();
  }
}
