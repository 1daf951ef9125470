/** Clocks of processes may differ by this much; a time further ahead was written by a clock that was wrong. */
const MAX_SKEW_MS = 60_000;
/** Delay after the second failure in a row. */
const FIRST_BACKOFF_MS = 30_000;
const MAX_BACKOFF_MS = 3_600_000;

/** Returns `at`, or 0 when it is later than a correct clock could have written. */
export function plausibleTime(at: number, latest: number): number {
  return at > latest + MAX_SKEW_MS ? 0 : at;
}

/** Returns the exponential backoff after a number of failures in a row; none after the first. */
export function retryBackoffMs(failures: number): number {
  return failures < 2 ? 0 : Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 2), MAX_BACKOFF_MS);
}
