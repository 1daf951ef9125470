import { deepFreeze } from "../json/json.js";
import type { Signal, SignalBus, Subscription } from "../ports/signal-bus.js";
import { checkId, checkSlot, type Slot, slotText } from "../slot/slot.js";

type Handler = (signal: Signal) => void;

/**
 * Carries signals within one process, synchronously: the reference signal bus. A signal to a call without a listener is
 * dropped, so that none outlives its call.
 *
 * @example
 * const signals = new InMemorySignalBus();
 */
export class InMemorySignalBus implements SignalBus {
  readonly contract = 1;
  readonly kind = "memory";
  readonly reach = "process";
  readonly #listeners = new Map<string, Set<{ readonly handler: Handler }>>();

  /** Number of calls with a listener, for monitoring: 0 when every call has finished. */
  get size(): number {
    return this.#listeners.size;
  }

  async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    const listeners = this.#listeners.get(callKey(slot, callId));
    if (listeners === undefined) return false;
    const text = JSON.stringify(signal);
    for (const { handler } of [...listeners]) handler(deepFreeze(JSON.parse(text) as Signal));
    return true;
  }

  async listen(slot: Slot, callId: string, handler: Handler): Promise<Subscription> {
    const key = callKey(slot, callId);
    const listener = { handler };
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return {
      close: async () => {
        if (listeners.delete(listener) && listeners.size === 0) this.#listeners.delete(key);
      },
    };
  }
}

function callKey(slot: Slot, callId: string): string {
  return slotText(checkSlot(slot)) + checkId(callId, "callId");
}
