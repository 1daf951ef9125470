import { longestTimerMs } from "@holdfast/core";
import { MemoryFailure } from "./failure-of.js";

/**
 * What `run` resolves to. Its signal aborts after `timeoutMs`, or as soon as one of `stops` does; it must heed it. No timer
 * or listener is left behind.
 */
export async function withinTime<T>(
  timeoutMs: number,
  stops: readonly AbortSignal[],
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.any over AbortSignal.timeout: on Node.js 20 garbage collection takes such a signal before it fires.
  const controller = new AbortController();
  const ends = stops.map((stop) => {
    const end = (): void => controller.abort(stop.reason);
    if (stop.aborted) end();
    stop.addEventListener("abort", end, { once: true });
    return () => stop.removeEventListener("abort", end);
  });
  const timer = setTimeout(
    () => controller.abort(new MemoryFailure(`the model gave no answer within ${timeoutMs} ms`)),
    Math.min(timeoutMs, longestTimerMs),
  );
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    for (const end of ends) end();
  }
}
