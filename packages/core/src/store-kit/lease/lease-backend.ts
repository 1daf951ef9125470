import type { LoadAnswer, Reach, Revision } from "../../ports/agent-state-store.js";
import type { InboxEntry } from "../../ports/inbox.js";
import type { Slot } from "../../slot/slot.js";

/** A call's claim on a slot, from asking for it until its lease has ended. */
export interface Claim {
  readonly slot: Slot;
  /** Names the claim in the backend: first its place in the queue, then its lease (the fencing token). */
  readonly token: string;
  readonly callId: string;
}

/** Claim of another call, as an answer of the backend has shown it. */
export interface SeenClaim {
  readonly token: string;
  /**
   * Text that changes whenever the claim is renewed, by asking again or by `renew`. A claim that lost its place and came again never
   * has one that it had before: others go by what they found out about it then.
   */
  readonly version: string;
}

/** Call on a slot, as the backend has shown it. */
export interface SeenCall {
  readonly callId: string;
  /** Its claim, from backends that have {@link LeaseBackend.nodes}. */
  readonly claim?: SeenClaim | undefined;
}

/** Terms on which a claim asks for its slot. */
export interface EnterTerms {
  /**
   * `queue`: take the slot, or join the queue if at most `maxQueue` wait. `refuse`: take it, or be refused. `again`: the claim
   * is in the queue; keep its place alive and take the slot if its turn has come.
   */
  readonly mode: "queue" | "refuse" | "again";
  readonly maxQueue: number;
  /** Revision that the caller has cached, for backends that load the state with the lease. */
  readonly known: Revision | undefined;
  /** Entry to put into the inbox together with the grant, for backends that have one. */
  readonly put: InboxEntry | undefined;
  /** Claim just before this one whose process is dead: it gives way, unless its version has changed. */
  readonly replaces?: SeenClaim | undefined;
  /** Longest time for the answer. */
  readonly deadlineMs: number;
}

/** Answer to a claim that asked for its slot. */
export type EnterAnswer =
  | {
      readonly kind: "granted";
      readonly loaded?: LoadAnswer | undefined;
      readonly inbox?: readonly InboxEntry[] | undefined;
    }
  | {
      readonly kind: "wait";
      /** Claims before this one, the holder included. */
      readonly ahead: number;
      /** Time after which it is worth asking again, even without a wake-up. */
      readonly dueMs: number;
      /** The claim just before this one, for backends that have {@link LeaseBackend.nodes}. */
      readonly before?: SeenClaim | undefined;
    }
  | {
      readonly kind: "busy";
      readonly waiting: number;
      /** The claim that this one would have waited behind, for backends that have {@link LeaseBackend.nodes}. */
      readonly before?: SeenClaim | undefined;
    };

/** Heartbeats of processes, each one for all claims of its process; a claim's token names its process. */
export interface NodeBeats {
  /** Time without a heartbeat after which a process may be taken for dead; less than `leaseMs`. */
  readonly timeoutMs: number;
  /** Stores the latest heartbeat of this process, for at least `leaseMs`. */
  beat(nodeId: string, count: number, deadlineMs: number): Promise<void>;
  /** Returns the latest heartbeat of a process; null when there is none. */
  lastBeat(nodeId: string, deadlineMs: number): Promise<string | null>;
}

/**
 * Storage of a `LeaseGate`: decides who is next.
 *
 * Contract:
 * - One claim holds a slot at a time, until `leave`, until it was neither entered nor renewed for `leaseMs` by the
 *   backend's own clock, or until the claim behind it replaces it.
 * - Queued claims are granted in the order in which `enter` was called in a process; those not heard of for `leaseMs` are
 *   passed over.
 * - Every command is idempotent by token: repeating one whose answer was lost changes nothing.
 * - Every command ends within its deadline with a `StoreError` at worst; one of `enter` that says why begins with
 *   `queueing for <slot> failed: `.
 */
export interface LeaseBackend {
  readonly kind: string;
  readonly reach: Reach;
  readonly leaseMs: number;
  /** Longest time for a command without a deadline of its own. */
  readonly commandTimeoutMs: number;
  /** Heartbeats of processes. Absent: a claim whose process died counts until `leaseMs`. */
  readonly nodes?: NodeBeats | undefined;
  /** Asks for the slot. */
  enter(claim: Claim, terms: EnterTerms): Promise<EnterAnswer>;
  /** Keeps a lease for another `leaseMs`; `false` when the slot is another claim's, or was: one that was replaced is over. */
  renew(claim: Claim, deadlineMs: number): Promise<boolean>;
  /** Gives back the lease or the place in the queue, and wakes the next; removes inbox entries in the same step. */
  leave(claim: Claim, drop: readonly string[]): Promise<void>;
  /** Returns the calls on a slot: the holder's first, then the queue in order. */
  calls(slot: Slot): Promise<readonly SeenCall[]>;
  /**
   * Calls `wake` when the claim's turn may have come, or when a message to it may have been missed. Wake-ups only make things
   * quick: whatever they announce is also found by asking.
   *
   * @returns the function that ends the watch
   */
  watch(claim: Claim, wake: () => void): Promise<() => void>;
  /** Releases what the backend opened itself. */
  close(): Promise<void>;
}
