import { LeaseLostError, StateConflictError, StoreError } from "@holdfast/core";
import { sleep } from "@holdfast/core/store-kit";

/** Pauses before the second, third and fourth attempt. */
const PAUSES_MS = [100, 500, 2_000];

/**
 * Repeats idempotent work when a store does not answer or another program was faster.
 *
 * @param signal - ends the pauses; the last error is thrown then
 */
export async function withRetries<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      await sleep(pauseMs, signal);
    }
  }
  return work();
}

/** Returns whether the work may succeed when it is repeated: see {@link withRetries}. */
export function isTransient(error: unknown): boolean {
  return isOutage(error) || LeaseLostError.is(error) || StateConflictError.is(error);
}

/** Returns whether a store could not be reached or did not answer. */
export function isOutage(error: unknown): boolean {
  if (!StoreError.is(error)) return false;
  return error.errorClass === "UNAVAILABLE" || error.errorClass === "UNKNOWN_OUTCOME";
}
