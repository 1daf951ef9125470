import {
  type DistributedStore,
  LeaseLostError,
  SessionBusyError,
  type SessionGate,
  type Slot,
} from "@holdfast/core";
import { timeLimit } from "@holdfast/core/plugin-kit";
import { type Lease, uuidv7 } from "@holdfast/core/store-kit";

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
  options: LeaseOptions,
  work: (lease: HeldLease) => Promise<T>,
): Promise<T> {
  const callId = `${options.holder}-${uuidv7()}`;
  const lease = await acquire(gate, slot, callId, options);
  try {
    const { token, loaded } = lease;
    return await work({
      token,
      loaded,
      // Asked for each time: a lease looks at the clock when it is, and a process that stood still has not heard of it yet.
      check: () => checkHeld(lease.lost),
      isHeld: async () => !lease.lost.aborted && (await gate.calls(slot))[0] === callId,
    });
  } finally {
    // What is not given back ends by itself.
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
        ? "the session is in use, and the waiting was ended"
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
