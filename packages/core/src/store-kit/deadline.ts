/** What a timer can hold; a longer one, `Infinity` too, would fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;

/**
 * What `run` resolves to, or `onTimeout()` as the error when that takes longer than `ms`.
 *
 * The work itself goes on: only the wait for it ends. What it comes to later, an error too, is dropped. No timer is left
 * behind.
 */
export async function withDeadline<T>(
  run: () => Promise<T>,
  ms: number,
  onTimeout: () => Error,
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), Math.min(ms, longestTimerMs));
  });
  try {
    return await Promise.race([run(), timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after `ms`, or as soon as `signal` aborts; leaves neither timer nor listener behind. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    }
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake);
  });
}
