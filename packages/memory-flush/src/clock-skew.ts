/** Clocks of processes may differ by so much; a time further ahead is of a clock that was set back. */
export const SKEW_MS = 60_000;

/** `at`, or 0 when it lies beyond what a clock that goes right could have named. */
export function believable(at: number, latest: number): number {
  return at > latest + SKEW_MS ? 0 : at;
}
