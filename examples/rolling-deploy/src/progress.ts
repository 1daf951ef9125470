/** Shows how far a run is: one line that changes on a terminal, a line now and then elsewhere. */
export class Progress {
  readonly #total: number;
  readonly #out: NodeJS.WriteStream;
  #done = 0;
  #lastShown = -1;

  constructor(total: number, out: NodeJS.WriteStream = process.stderr) {
    this.#total = total;
    this.#out = out;
  }

  step(): void {
    this.#done++;
    const percent = Math.floor((this.#done / this.#total) * 100);
    const interval = this.#out.isTTY ? 1 : 25;
    if (Math.floor(percent / interval) === this.#lastShown) return;
    this.#lastShown = Math.floor(percent / interval);
    const bar = "#".repeat(Math.floor(percent / 4)).padEnd(25, ".");
    const text = `  ${bar} ${this.#done} of ${this.#total} calls answered`;
    this.#out.write(this.#out.isTTY ? `\r${text}` : `${text}\n`);
  }

  /** A line that stays. */
  note(text: string): void {
    if (this.#out.isTTY) this.#out.write("\r\u001b[K");
    this.#out.write(`  ${text}\n`);
    this.#lastShown = -1;
  }

  end(): void {
    if (this.#out.isTTY) this.#out.write("\n");
  }
}
