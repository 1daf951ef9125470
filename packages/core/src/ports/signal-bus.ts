import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { Reach } from "./agent-state-store.js";
import type { SessionGate } from "./session-gate.js";

/** What one process tells the call that runs in another. */
export interface Signal {
  /** `interrupt` stops a call and keeps its work; `rollback` stops it and takes its work back. */
  readonly kind: "interrupt" | "rollback";
  readonly message?: Message | undefined;
}

/** What a bus may make use of when a call begins to listen. */
export interface ListenOptions {
  /**
   * The gate the call is about to enter under this very call id. A bus on the same backend then finds the call there and
   * needs no registration of its own, which saves a round trip per call.
   */
  readonly enters?: SessionGate | undefined;
}

/** Ends a subscription; idempotent. */
export interface Subscription {
  close(): Promise<void>;
}

/**
 * Carries signals to whichever process runs a call.
 *
 * Contract:
 * - A signal is bound to one call id, lives no longer than that call and never hits another one.
 * - `send` resolves to whether a listener of that call was reached or will be.
 * - `listen` may be called before the call gets its turn.
 */
export interface SignalBus {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  send(slot: Slot, callId: string, signal: Signal): Promise<boolean>;
  listen(
    slot: Slot,
    callId: string,
    handler: (signal: Signal) => void,
    options?: ListenOptions,
  ): Promise<Subscription>;
}
