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
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** Begins the id under which others see who holds the session. */
  readonly holder: string;
}

/** A lease, to be looked at before every write. */
export interface HeldLease extends Pick<Lease, "token" | "loaded"> {
  /** @throws LeaseLostError when it is known that the right to write is gone */
  check(): void;
  /** Whether the store says so too. */
  isHeld(): Promise<boolean>;
}

/**
 * Works on a session while nobody else can: calls wait for their turn.
 *
 * @throws SessionBusyError when the session is not free in time
 */
export async function underLease<T>(
  { gate }: Pick<DistributedStore, "gate">,
  slot: Slot,
  { waitMs, signal: stop, holder }: LeaseOptions,
  work: (lease: HeldLease) => Promise<T>,
): Promise<T> {
  const signals = stop === undefined ? [] : [stop];
  const signal =
    waitMs > 0 ? AbortSignal.any([AbortSignal.timeout(waitMs), ...signals]) : undefined;
  const callId = `${holder}-${uuidv7()}`;
  let lease: Lease;
  try {
    lease = await gate.acquire(slot, { callId, wait: waitMs > 0, signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new SessionBusyError(
      stop?.aborted
        ? "the session is in use, and the waiting was ended"
        : `the session is in use and was not free within ${waitMs} ms; try again later`,
      { cause: error },
    );
  }
  try {
    const { token, loaded, lost } = lease;
    return await work({
      token,
      loaded,
      check: () => checkHeld(lost),
      isHeld: async () => !lost.aborted && (await gate.calls(slot))[0] === callId,
    });
  } finally {
    // What is not given back ends by itself.
    await lease.release().catch(() => undefined);
  }
}

function checkHeld(lost: AbortSignal): void {
  if (lost.aborted)
    throw LeaseLostError.is(lost.reason)
      ? lost.reason
      : new LeaseLostError("the lease of the session has ended; try again");
}
