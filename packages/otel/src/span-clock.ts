/** How far this process's monotonic clock may be from the wall clock before it is set anew. */
const MAX_DRIFT_MS = 20;
let offset = performance.timeOrigin;

/**
 * Epoch milliseconds with their fractions, for the spans of one piece of work: an SDK's own start times are whole
 * milliseconds, and work that is known of only when it is done would seem to begin before what came before it. It does not
 * jump when the wall clock is set.
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
