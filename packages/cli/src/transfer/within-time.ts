import { longestTimerMs } from "@holdfast/core";

/**
 * What `run` resolves to. Its signal aborts after `ms`, or as soon as `stop` does; it must heed it. No timer or listener is
 * left behind.
 */
export async function withinTime<T>(
  ms: number,
  stop: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.any over AbortSignal.timeout: on Node.js 20 garbage collection takes such a signal before it fires.
  const controller = new AbortController();
  const end = (): void => controller.abort();
  if (stop?.aborted) end();
  stop?.addEventListener("abort", end, { once: true });
  const timer = setTimeout(end, Math.min(ms, longestTimerMs));
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener("abort", end);
  }
}
