/**
 * Calls back when answers are waited for and none has come for a while.
 *
 * Writes do not count as signs of life: those to a wedged server go well until the buffers of the socket are full.
 */
export class SilenceWatch {
  readonly #silenceMs: number;
  readonly #onSilence: () => void;
  #awaited = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(silenceMs: number, onSilence: () => void) {
    this.#silenceMs = silenceMs;
    this.#onSilence = onSilence;
  }

  /** Waits for an answer with `answer`. */
  async await<T>(answer: Promise<T>): Promise<T> {
    if (++this.#awaited === 1) this.#timer = setTimeout(this.#onSilence, this.#silenceMs);
    try {
      return await answer;
    } finally {
      if (--this.#awaited === 0) clearTimeout(this.#timer);
      else this.#timer?.refresh();
    }
  }
}
