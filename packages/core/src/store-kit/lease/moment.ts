/**
 * Moment on both clocks of this process. The monotonic one stands still while the machine is suspended; the wall clock can be
 * set. Only together they tell that a time has certainly not passed yet.
 */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** Returns the present moment. */
export function presentMoment(): Moment {
  return { monotonicMs: performance.now(), wallMs: Date.now() };
}

/** Returns the milliseconds since a moment, by the clock that says more. */
export function elapsedMs(since: Moment): number {
  return Math.max(performance.now() - since.monotonicMs, Date.now() - since.wallMs);
}
