import { setTimeout as sleep } from "node:timers/promises";
import { HoldfastError } from "@holdfast/core";

/** Measurement that is repeated while a command runs. */
export interface UsageCheck {
  /** Shortest time from the end of one to the start of the next; longer where one takes long. */
  readonly everyMs: number;
  /** @throws HoldfastError when a limit is exceeded; any other error is ignored, because what is measured keeps changing */
  measure(): Promise<void>;
}

/** Factor by which the pause after a measurement is longer than the measurement. */
const PAUSE_FACTOR = 4;

/**
 * Runs `work` and aborts it when a check finds a limit exceeded.
 *
 * @throws the error of that check, as the reason of the signal that `work` got
 */
export async function whileWatched<T>(
  signal: AbortSignal,
  checks: readonly UsageCheck[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const done = new AbortController();
  const onAbort = (): void => stop.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const watching = checks.map((check) =>
    repeat(check, done.signal).catch((error: unknown) => stop.abort(error)),
  );
  try {
    return await work(stop.signal);
  } finally {
    signal.removeEventListener("abort", onAbort);
    done.abort();
    await Promise.all(watching);
  }
}

async function repeat({ everyMs, measure }: UsageCheck, done: AbortSignal): Promise<void> {
  for (let pauseMs = everyMs; !done.aborted; ) {
    await sleep(pauseMs, undefined, { signal: done }).catch(() => {});
    if (done.aborted) return;
    const started = performance.now();
    try {
      await measure();
    } catch (error) {
      if (HoldfastError.is(error)) throw error;
    }
    pauseMs = Math.max(everyMs, PAUSE_FACTOR * (performance.now() - started));
  }
}
