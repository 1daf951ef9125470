import { longestTimerMs } from "@holdfast/core/store-kit";

/** Time a call that is being stopped still waits: long enough for a write that is nearly done. */
const STOPPING_MS = 2_000;

/**
 * Resolves as `run` does; rejects after `timeoutMs`, or shortly after `stopping` aborts. An abort before the start allows that
 * short time too: an interrupted tool may have returned a large result.
 *
 * `run` gets a signal that aborts when it is no longer waited for. No timer or listener is left behind.
 */
export async function withinTime<T>(
  timeoutMs: number,
  stopping: AbortSignal,
  run: (gaveUp: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = (ms: number): void => {
    clearTimeout(timer);
    const giveUp = () => controller.abort(new OffloaderTimeout(ms));
    timer = setTimeout(giveUp, Math.min(ms, longestTimerMs));
  };
  const hurry = (): void => limit(Math.min(timeoutMs, STOPPING_MS));
  if (stopping.aborted) hurry();
  else limit(timeoutMs);
  stopping.addEventListener("abort", hurry, { once: true });
  try {
    const late = new Promise<never>((_, reject) => {
      controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
    });
    return await Promise.race([run(controller.signal), late]);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", hurry);
  }
}

/** The offloader did not answer in time. */
export class OffloaderTimeout extends Error {
  override readonly name = "OffloaderTimeout";

  constructor(ms: number) {
    super(`the offloader gave no answer within ${ms} ms`);
  }
}
