/** Does something again and again, one at a time, sooner when poked. Its timer keeps no process alive. */
export class Heartbeat {
  readonly #beat: () => Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #isPoked = false;
  #isStopped = false;

  /** @param beat - resolves to the milliseconds until the next time; never rejects */
  constructor(beat: () => Promise<number>) {
    this.#beat = beat;
  }

  /** Whether it was being done at any moment since `time`, by this process's steady clock. */
  wasBusySince(time: number): boolean {
    return this.#underWay !== undefined || this.#endedAt >= time;
  }

  /** The next one after `ms`. */
  schedule(ms: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.poke(), ms);
    this.#timer.unref();
  }

  /** At once, or once more right after the one under way. */
  poke(): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#isPoked = true;
    this.#underWay ??= this.#run();
  }

  /** No further one begins; resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#underWay;
  }

  async #run(): Promise<void> {
    let nextMs = 0;
    while (this.#isPoked && !this.#isStopped) {
      this.#isPoked = false;
      nextMs = await this.#beat();
      this.#endedAt = performance.now();
    }
    this.#underWay = undefined;
    this.schedule(nextMs);
  }
}
