import { setImmediate } from "node:timers/promises";

/** Time before other work gets a turn. */
const SLICE_MS = 8;

/** Gives other work a turn every few milliseconds of a long task, and stops the task when its signal is aborted. */
export class TimeSlice {
  readonly #signal: AbortSignal | undefined;
  #began: number = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  get isOver(): boolean {
    return performance.now() - this.#began > SLICE_MS;
  }

  /** @throws the reason of the signal, once it is aborted */
  async next(): Promise<void> {
    this.#signal?.throwIfAborted();
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#began = performance.now();
  }
}
