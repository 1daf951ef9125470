import type { Slot } from "../slot/slot.js";
import type { LoadAnswer, Reach, Revision } from "./agent-state-store.js";
import type { InboxEntry } from "./inbox.js";

/** Request for a lease. */
export interface AcquireRequest {
  /** Id of the call, for `calls` and the signal bus. */
  readonly callId: string;
  /** Returns the cached revision when the caller's turn comes, for gates that load the state with the lease. */
  readonly known?: (() => Revision | undefined) | undefined;
  /**
   * Entry to put into the slot's inbox in the step that grants the lease, so that the caller's words are durable from then
   * on. Gates that do not fuse an inbox ignore it; their leases have no {@link Lease.inbox}.
   */
  readonly put?: InboxEntry | undefined;
  /** Removes the caller from the queue when aborted; `acquire` then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Queues while the slot is held; `false` rejects with `SessionBusyError` instead. @default true */
  readonly wait?: boolean | undefined;
  /** Longest queue; a call beyond it is rejected with `SessionBusyError`. @default 100 */
  readonly maxQueue?: number | undefined;
  /** Called with the number of calls ahead when the caller has to wait. */
  readonly onWait?: ((ahead: number) => void) | undefined;
}

/** Exclusive right to run a slot, until released or lost. */
export interface Lease {
  /** Fencing token: sent with fused saves, so that a stale holder's save is refused. */
  readonly token: string;
  /** Aborts when the lease ends other than by `release`; the holder must not start anything new then. */
  readonly lost: AbortSignal;
  /**
   * Time until which the lease certainly holds, in milliseconds since the epoch by this process's clock; moves on with every
   * renewal. `Infinity` for a lease that cannot be lost. A holder past it does nothing more unless `confirm` says that it may.
   */
  readonly validUntil: number;
  /**
   * Resolves once the lease holds for certain, at once before `validUntil`; past it the store is asked, for as long as it takes to
   * be answered or to lose the lease. Absent: a lease past `validUntil` is lost.
   *
   * @throws LeaseLostError when the lease was lost
   */
  readonly confirm?: (() => Promise<void>) | undefined;
  /** State loaded in the same step, if the gate can do that; see `AgentStateStore.load`. */
  readonly loaded?: LoadAnswer | undefined;
  /** The slot's inbox when the lease was granted, `put` included, oldest first; absent when the gate fuses no inbox. */
  readonly inbox?: readonly InboxEntry[] | undefined;
  /**
   * Hands the slot to the next waiter. Idempotent; no round trip when a fused save released it already.
   *
   * @param drop - ids of inbox entries to remove in the same step, when the lease has an `inbox`
   */
  release(drop?: readonly string[]): Promise<void>;
}

/**
 * Serialises the calls on a slot.
 *
 * Contract:
 * - One lease per slot at a time; waiters of one process are served first come, first served.
 * - Different slots never wait for each other.
 * - A finished slot leaves nothing behind in memory.
 * - A holder that dies loses its lease after a bounded time.
 */
export interface SessionGate {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  /** Waits for the slot and returns the lease on it. */
  acquire(slot: Slot, request: AcquireRequest): Promise<Lease>;
  /**
   * Returns the ids of the calls on this slot: the running one first, then the waiting ones in order. Those of a process that is
   * known to be dead may be left out.
   */
  calls(slot: Slot): Promise<readonly string[]>;
}
