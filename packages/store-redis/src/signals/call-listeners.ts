import type { Slot } from "@holdfast/core";
import { slotText } from "@holdfast/core/store-kit";
import type { SentSignal } from "../gate/sent-signal.js";
import type { CallListener } from "./call-listener.js";

/** Who in this process listens for which call. A call nobody listens for takes no memory. */
export class CallListeners {
  readonly #byCall = new Map<string, Set<CallListener>>();

  has(slot: Slot, callId: string): boolean {
    return this.#byCall.has(callKey(slot, callId));
  }

  add(slot: Slot, callId: string, listener: CallListener): void {
    const key = callKey(slot, callId);
    const listeners = this.#byCall.get(key) ?? new Set();
    this.#byCall.set(key, listeners.add(listener));
  }

  remove(slot: Slot, callId: string, listener: CallListener): void {
    const key = callKey(slot, callId);
    const listeners = this.#byCall.get(key);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#byCall.delete(key);
  }

  hear(slot: Slot, callId: string, signals: readonly SentSignal[]): void {
    for (const listener of [...(this.#byCall.get(callKey(slot, callId)) ?? [])])
      listener.hear(signals);
  }
}

function callKey(slot: Slot, callId: string): string {
  return slotText(slot) + callId;
}
