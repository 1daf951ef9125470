import { StateConflictError, StoreError, UnknownOutcomeError } from "../errors/store-errors.js";
import type { AgentStateStore, Revision, StateWrite } from "../ports/agent-state-store.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import { sleep, withDeadline } from "./deadline.js";
import { REMEMBERED_OPS, revisionSeq } from "./revision.js";

/** Options of {@link saveWithRetry}. */
export interface SaveRetryOptions {
  /** Time limit of all attempts together. @default 30_000 */
  readonly deadlineMs?: number | undefined;
  /** Stops the retries, not the first attempt: the outcome of a save matters even when its call was aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Backoff before the first retry; it doubles with each one, with jitter. @default 50 */
  readonly baseDelayMs?: number | undefined;
  /** Longest backoff. @default 2_000 */
  readonly maxDelayMs?: number | undefined;
}

/**
 * Saves, and repeats the same write with exponential backoff while the store is unavailable or its answer is lost.
 *
 * A repeated write has the same `op`, so the store recognises one that was applied although its answer was lost.
 *
 * @throws UnknownOutcomeError when the time is up and any attempt may have been applied; also for a conflict after a lost
 * answer when others have saved so often since that the store no longer remembers the `op`
 * @throws StoreUnavailableError when the time is up and certainly none was
 * @throws StateConflictError | LeaseLostError immediately, even after a lost answer: the store would have recognised a write
 * that was applied
 */
export async function saveWithRetry(
  store: Pick<AgentStateStore, "save">,
  slot: Slot,
  write: StateWrite,
  options: SaveRetryOptions = {},
): Promise<Revision> {
  let mayHaveApplied = false;
  const save = async (): Promise<Revision> => {
    try {
      return await store.save(slot, write);
    } catch (error) {
      mayHaveApplied ||= StoreError.is(error) && error.mayHaveApplied;
      throw error;
    }
  };
  try {
    return await retryWrite(slot, save, options);
  } catch (error) {
    if (!mayHaveApplied || !isForgotten(write, error)) throw error;
    throw unknownOutcome(slot, "an earlier attempt got no answer, and others saved since", error);
  }
}

/** Tells that a conflict proves nothing about earlier attempts: a save of theirs would be older than the ops remembered. */
function isForgotten({ expected }: StateWrite, error: unknown): error is StateConflictError {
  if (!StateConflictError.is(error) || error.storedRevision === undefined) return false;
  if (error.storedRevision === null) return true;
  const produced = (expected === null ? 0 : revisionSeq(expected)) + 1;
  return revisionSeq(error.storedRevision) - produced >= REMEMBERED_OPS;
}

/** Repeats any idempotent write, such as appending log records; see {@link saveWithRetry}. */
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

// Exponential backoff with equal jitter, so that nodes which failed together do not retry together.
function backoff(attempt: number, baseDelayMs: number, maxDelayMs: number): number {
  return Math.min(baseDelayMs * 2 ** attempt, maxDelayMs) * (0.5 + Math.random() / 2);
}

function unknownOutcome(slot: Slot, what: string, cause?: StoreError): UnknownOutcomeError {
  return new UnknownOutcomeError(
    `${describeSlot(slot)} may or may not have been saved: ${what}`,
    cause === undefined ? undefined : { cause },
  );
}
