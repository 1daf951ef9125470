/** Tells of clients that left, each to one listener, in order. */
export class Disconnects {
  #unreported = 0;
  readonly #waiting: (() => void)[] = [];

  report(): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#unreported += 1;
    else waiting();
  }

  next(): Promise<void> {
    if (this.#unreported > 0) {
      this.#unreported -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
