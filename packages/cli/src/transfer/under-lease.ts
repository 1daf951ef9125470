import {
  type DistributedStore,
  LeaseLostError,
  SessionBusyError,
  type SessionGate,
  type Slot,
} from "@holdfast/core";
import { timeLimit } from "@holdfast/core/plugin-kit";
import { type Lease, uuidv7 } from "@holdfast/core/store-kit";

/** Options of {@link underLease}. */
export interface LeaseOptions {
  /** Time to wait for the lease; 0 does not wait. */
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** Prefix of the id under which others see the holder. */
  readonly holder: string;
}

/** Lease, to be checked before every write. */
export interface CheckedLease extends Pick<Lease, "token" | "loaded"> {
  /** @throws LeaseLostError when the lease is known to be lost */
  check(): void;
  /** Asks the store whether the lease is still held. */
  isHeld(): Promise<boolean>;
}

/**
 * Runs `work` while holding the lease of a session: calls wait for it.
 *
 * @throws SessionBusyError when the session is not free in time
 */
export async function underLease<T>(
  { gate }: Pick<DistributedStore, "gate">,
  slot: Slot,
  options: LeaseOptions,
  work: (lease: CheckedLease) => Promise<T>,
): Promise<T> {
  const callId = `${options.holder}-${uuidv7()}`;
  const lease = await acquire(gate, slot, callId, options);
  try {
    const { token, loaded } = lease;
    return await work({
      token,
      loaded,
      // Read each time: the getter checks the clock, and a process that was suspended has seen no event yet.
      check: () => checkHeld(lease.lost),
      isHeld: async () => !lease.lost.aborted && (await gate.calls(slot))[0] === callId,
    });
  } finally {
    // A lease that cannot be released expires.
    await lease.release().catch(() => undefined);
  }
}

async function acquire(
  gate: SessionGate,
  slot: Slot,
  callId: string,
  { waitMs, signal: stop }: LeaseOptions,
): Promise<Lease> {
  if (waitMs <= 0) return gate.acquire(slot, { callId, wait: false });
  using limit = timeLimit(waitMs, { stops: stop === undefined ? [] : [stop] });
  try {
    return await gate.acquire(slot, { callId, wait: true, signal: limit.signal });
  } catch (error) {
    if (!limit.signal.aborted) throw error;
    throw new SessionBusyError(
      stop?.aborted
        ? "the session is in use, and the wait was ended"
        : `the session is in use and was not free within ${waitMs} ms; try again later`,
      { cause: error },
    );
  }
}

function checkHeld(lost: AbortSignal): void {
  if (lost.aborted)
    throw LeaseLostError.is(lost.reason)
      ? lost.reason
      : new LeaseLostError("the lease of the session has ended; try again");
}
