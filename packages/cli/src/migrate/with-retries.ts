import { LeaseLostError, StateConflictError, StoreError } from "@holdfast/core";
import { sleep } from "@holdfast/core/store-kit";

/** Pauses before the second, third and fourth attempt. */
const PAUSES_MS = [100, 500, 2_000];

/**
 * Does something that may be begun again without harm, also when a store does not answer or somebody else came first.
 *
 * @param signal - ends the pauses; the last error stands then
 */
export async function withRetries<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || signal.aborted) throw error;
      await sleep(pauseMs, signal);
    }
  }
  return work();
}

/** Whether it may work the next time: see {@link withRetries}. */
export function isPassing(error: unknown): boolean {
  return isOutage(error) || LeaseLostError.is(error) || StateConflictError.is(error);
}

/** Whether a store could not be reached or did not answer. */
export function isOutage(error: unknown): boolean {
  if (!StoreError.is(error)) return false;
  return error.errorClass === "UNAVAILABLE" || error.errorClass === "UNKNOWN_OUTCOME";
}
