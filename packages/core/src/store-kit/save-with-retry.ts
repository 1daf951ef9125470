import { StoreError, UnknownOutcomeError } from "../errors/store-errors.js";
import type { AgentStateStore, Revision, StateWrite } from "../ports/agent-state-store.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import { sleep, withDeadline } from "./deadline.js";

/** How long and how often {@link saveWithRetry} tries. */
export interface SaveRetryOptions {
  /** No attempt starts, and none is waited for, after this long. @default 30_000 */
  readonly deadlineMs?: number | undefined;
  /** Ends the retrying, not the first attempt: what happened to a save must be known even when its call was aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Longest wait before the first repetition; it doubles each time. @default 50 */
  readonly baseDelayMs?: number | undefined;
  /** @default 2_000 */
  readonly maxDelayMs?: number | undefined;
}

/**
 * Saves, repeating the very same write while the store is unavailable or its answer is lost.
 *
 * The repeated write has the same `op`, so the store recognises one that was applied although its answer was lost.
 *
 * @throws UnknownOutcomeError when the time is up and any attempt may have been applied
 * @throws StoreUnavailableError when the time is up and certainly none was
 * @throws StateConflictError | LeaseLostError at once, also after a lost answer: had the write been applied, the store
 * would have recognised it
 */
export function saveWithRetry(
  store: Pick<AgentStateStore, "save">,
  slot: Slot,
  write: StateWrite,
  options: SaveRetryOptions = {},
): Promise<Revision> {
  return retryWrite(slot, () => store.save(slot, write), options);
}

/** {@link saveWithRetry} for any write that may be repeated without harm, such as appending log records. */
export async function retryWrite<T>(
  slot: Slot,
  write: () => Promise<T>,
  options: SaveRetryOptions = {},
): Promise<T> {
  const { deadlineMs = 30_000, signal, baseDelayMs = 50, maxDelayMs = 2_000 } = options;
  const end = performance.now() + deadlineMs;
  let mayHaveApplied = false;
  for (let attempt = 0; ; attempt++) {
    let failure: StoreError;
    try {
      return await withDeadline(write, Math.max(end - performance.now(), 0), () =>
        unknownOutcome(slot, `no answer within ${deadlineMs} ms`),
      );
    } catch (error) {
      if (!StoreError.is(error) || error.errorClass === "CONFLICT") throw error;
      failure = error;
    }
    mayHaveApplied ||= failure.mayHaveApplied;
    const delay = backoff(attempt, baseDelayMs, maxDelayMs);
    const again = isTransient(failure) && performance.now() + delay < end;
    if (again) await sleep(delay, signal);
    if (!again || signal?.aborted)
      throw mayHaveApplied && !failure.mayHaveApplied
        ? unknownOutcome(slot, "an earlier attempt got no answer and the last one failed", failure)
        : failure;
  }
}

function isTransient(error: StoreError): boolean {
  return error.errorClass === "UNAVAILABLE" || error.errorClass === "UNKNOWN_OUTCOME";
}

// Between half and all of the step, so that nodes which failed together do not come back together.
function backoff(attempt: number, baseDelayMs: number, maxDelayMs: number): number {
  return Math.min(baseDelayMs * 2 ** attempt, maxDelayMs) * (0.5 + Math.random() / 2);
}

function unknownOutcome(slot: Slot, what: string, cause?: StoreError): UnknownOutcomeError {
  return new UnknownOutcomeError(
    `${describeSlot(slot)} may or may not have been saved: ${what}. Repeat the save with the same op`,
    cause === undefined ? undefined : { cause },
  );
}
