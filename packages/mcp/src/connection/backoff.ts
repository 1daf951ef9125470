/** Exponential backoff with equal jitter: between half and all of a delay that doubles with every failure in a row. */
export function backoffMs(
  failures: number,
  { baseDelayMs, maxDelayMs }: { readonly baseDelayMs: number; readonly maxDelayMs: number },
  random: () => number = Math.random,
): number {
  const whole = Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole / 2 + (random() * whole) / 2);
}
