import type { Message } from "../message/message.js";
import type { Slot } from "../slot/slot.js";
import type { Reach } from "./agent-state-store.js";
import type { SessionGate } from "./session-gate.js";

/** Message from one process to a call that runs in another. */
export interface Signal {
  /**
   * `interrupt` stops a call and keeps its work; `rollback` stops it and discards its work; `steer` tells it, without stopping
   * it, that a message waits in the inbox.
   */
  readonly kind: "interrupt" | "rollback" | "steer";
  readonly message?: Message | undefined;
}

/** Options of `SignalBus.listen`. */
export interface ListenOptions {
  /**
   * Gate that the call is about to enter with the same call id. A bus on the same backend finds the call there and needs no
   * registration of its own, which saves a round trip per call.
   */
  readonly enters?: SessionGate | undefined;
}

/** Subscription to the signals of a call; `close` is idempotent. */
export interface Subscription {
  close(): Promise<void>;
}

/**
 * Carries signals to the process that runs a call.
 *
 * Contract:
 * - A signal is bound to one call id, lives no longer than that call and never reaches another one.
 * - `send` resolves to `true` when a listener of that call was reached or will be.
 * - `listen` may be called before the call gets its turn.
 * - A listener gets each signal once, however often it was announced.
 * - A signal that a handler gets is frozen, its message included: the handler may keep it in a state.
 */
export interface SignalBus {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  /** Sends a signal to a call. */
  send(slot: Slot, callId: string, signal: Signal): Promise<boolean>;
  /** Subscribes to the signals of a call. */
  listen(
    slot: Slot,
    callId: string,
    handler: (signal: Signal) => void,
    options?: ListenOptions,
  ): Promise<Subscription>;
}
