/** Difference between the monotonic and the wall clock at which the offset is set anew. */
const MAX_DRIFT_MS = 20;
let offset = performance.timeOrigin;

/**
 * Epoch milliseconds with fractions, for the spans of one piece of work. An SDK's own start times are whole milliseconds, and
 * work that is reported only when it is done would seem to start before the work that preceded it. The clock does not jump
 * when the wall clock is set.
 */
export class SpanClock {
  readonly #offset: number;

  constructor() {
    const drift = Date.now() - (offset + performance.now());
    if (Math.abs(drift) > MAX_DRIFT_MS) offset += drift;
    this.#offset = offset;
  }

  now(): number {
    return this.#offset + performance.now();
  }
}
