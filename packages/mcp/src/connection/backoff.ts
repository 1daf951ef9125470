/** How long to wait before the next attempt after so many failures in a row: doubled each time, between half and all of it. */
export function backoffMs(
  failures: number,
  { baseDelayMs, maxDelayMs }: { readonly baseDelayMs: number; readonly maxDelayMs: number },
  random: () => number = Math.random,
): number {
  const whole = Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole / 2 + (random() * whole) / 2);
}
