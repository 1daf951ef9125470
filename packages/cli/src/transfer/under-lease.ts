import {
  type DistributedStore,
  type Lease,
  LeaseLostError,
  SessionBusyError,
  type Slot,
  uuidv7,
} from "@holdfast/core";

/** How long to wait for one's turn; 0 does not wait. */
export interface LeaseOptions {
  readonly waitMs: number;
  /** Begins the id under which others see who holds the session. */
  readonly holder: string;
}

/**
 * Works on a session while nobody else can: calls wait for their turn.
 *
 * @throws SessionBusyError when the session is not free in time
 */
export async function underLease<T>(
  { gate }: Pick<DistributedStore, "gate">,
  slot: Slot,
  { waitMs, holder }: LeaseOptions,
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const signal = waitMs > 0 ? AbortSignal.timeout(waitMs) : undefined;
  const callId = `${holder}-${uuidv7()}`;
  let lease: Lease;
  try {
    lease = await gate.acquire(slot, { callId, wait: waitMs > 0, signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new SessionBusyError(
      `the session is in use and was not free within ${waitMs} ms; try again later`,
      { cause: error },
    );
  }
  try {
    return await work(lease);
  } finally {
    // What is not given back ends by itself.
    await lease.release().catch(() => undefined);
  }
}

/** @throws LeaseLostError when the right to write is gone */
export function checkHeld({ lost }: Lease): void {
  if (lost.aborted)
    throw LeaseLostError.is(lost.reason)
      ? lost.reason
      : new LeaseLostError("the lease of the session has ended; try again");
}
