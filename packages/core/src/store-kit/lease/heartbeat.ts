/** Repeats an action, one run at a time, at the pace it asks for, and sooner when poked. */
export class Heartbeat {
  readonly #beat: () => Promise<number>;
  readonly #keepsRunning: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #underWay: Promise<void> | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #isPoked = false;
  #isStopped = false;

  /**
   * @param beat - resolves to the milliseconds until the next run; never rejects
   * @param keepsRunning - the time between two runs keeps the process alive; default false
   */
  constructor(beat: () => Promise<number>, keepsRunning = false) {
    this.#beat = beat;
    this.#keepsRunning = keepsRunning;
  }

  /** Tells whether a run was under way at any time since `time`, on the clock of `performance.now()`. */
  wasBusySince(time: number): boolean {
    return this.#underWay !== undefined || this.#endedAt >= time;
  }

  /** Sets the next run to begin after `ms`. */
  schedule(ms: number): void {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.poke(), ms);
    if (!this.#keepsRunning) this.#timer.unref();
  }

  /** Begins a run at once, or one more right after the one under way; resolves when that has ended. */
  async poke(): Promise<void> {
    if (this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#isPoked = true;
    this.#underWay ??= this.#run();
    await this.#underWay;
  }

  /** Begins no further run; resolves when the one under way has ended. */
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
