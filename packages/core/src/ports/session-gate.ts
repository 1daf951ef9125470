import type { Slot } from "../slot/slot.js";
import type { LoadedState, Reach, Revision } from "./agent-state-store.js";

/** What a caller tells the gate. */
export interface AcquireRequest {
  /** Names the call towards `calls` and the signal bus. */
  readonly callId: string;
  /** The revision the caller has cached when its turn comes, for gates that load along with the lease. */
  readonly known?: (() => Revision | undefined) | undefined;
  /** Leaves the queue when aborted; `acquire` then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** `false`: reject with `SessionBusyError` instead of queueing. @default true */
  readonly wait?: boolean | undefined;
  /** Reject with `SessionBusyError` when that many already wait. @default 100 */
  readonly maxQueue?: number | undefined;
  /** Called when the caller has to wait, with the number of calls before it. */
  readonly onWait?: ((ahead: number) => void) | undefined;
}

/** The right to run a slot, until released or lost. */
export interface Lease {
  /** Travels inside fused saves, so that a stale holder's save is refused. */
  readonly token: string;
  /** Aborts when the lease ended without its holder's doing; nothing new may be started then. */
  readonly lost: AbortSignal;
  /** What the gate loaded in the same step, if it can: see `AgentStateStore.load`. */
  readonly loaded?: LoadedState | "unchanged" | null | undefined;
  /** Gives the slot to the next in line. Idempotent; no round trip when a fused save released it already. */
  release(): Promise<void>;
}

/**
 * Serialises calls on a slot.
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
  acquire(slot: Slot, request: AcquireRequest): Promise<Lease>;
  /** Ids of the calls on this slot: the running one first, then those that wait, in order. */
  calls(slot: Slot): Promise<readonly string[]>;
}
