import { setImmediate } from "node:timers/promises";

/** Long enough to get on, short enough that others do not notice. */
const SLICE_MS = 8;

/** Lets others run every few milliseconds of a long piece of work, and stops it when it is no longer wanted. */
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
