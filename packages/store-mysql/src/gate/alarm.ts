import { longestTimerMs } from "@holdfast/core/store-kit";

/** A sleep that somebody else may end; a ring while nobody sleeps ends the next one at once. */
export class Alarm {
  #wake: (() => void) | undefined;
  #hasRung = false;

  ring(): void {
    if (this.#wake === undefined) this.#hasRung = true;
    else this.#wake();
  }

  /** Resolves after `ms`, or when the alarm rings. */
  sleep(ms: number = longestTimerMs): Promise<void> {
    if (this.#hasRung) {
      this.#hasRung = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#wake = wake;
    });
  }
}
