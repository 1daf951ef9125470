import { setTimeout as sleep } from "node:timers/promises";
import { StateTooLargeError } from "@holdfast/core";

const intervalMs = 500;

/**
 * Runs `work` and looks again and again whether it takes too much; if so, aborts it with the error that `check` threw.
 */
export async function stopWhenTooLarge<T>(
  check: () => Promise<void>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const done = new AbortController();
  const watching = watch(check, done.signal).catch((error: unknown) => stop.abort(error));
  try {
    return await work(AbortSignal.any([signal, stop.signal]));
  } finally {
    done.abort();
    await watching;
  }
}

async function watch(check: () => Promise<void>, done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    await sleep(intervalMs, undefined, { signal: done }).catch(() => {});
    if (done.aborted) return;
    try {
      await check();
    } catch (error) {
      // Anything else comes from looking at files that are changing, and the next look tells more.
      if (StateTooLargeError.is(error)) throw error;
    }
  }
}
