import { setImmediate as pause } from "node:timers/promises";

/** For how long a search works before it lets others. */
const TURN_MS = 8;

/** Lets others work between the parts of a long computation. */
export class Turns {
  readonly #signal: AbortSignal;
  #end: number = performance.now() + TURN_MS;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether to call {@link give} now; cheap enough to be asked for every note. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** @throws what the signal was aborted with */
  async give(): Promise<void> {
    await pause();
    this.#signal.throwIfAborted();
    this.#end = performance.now() + TURN_MS;
  }
}
