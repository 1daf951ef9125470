import type { SignalBus, Slot } from "@holdfast/core";
import { checkSlot, type Signal, type Subscription, slotText } from "@holdfast/core/store-kit";

type Handlers = Map<string, Set<(signal: Signal) => void>>;

/** The shortest signal bus that keeps the contract; broken ones override a protected method. */
export class ReferenceSignalBus implements SignalBus {
  readonly contract = 1;
  readonly kind = "reference";
  readonly reach = "process";
  readonly handlers: Handlers;

  constructor(handlers: Handlers = new Map()) {
    this.handlers = handlers;
  }

  async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    const handlers = this.handlers.get(this.keyOf(checkSlot(slot), callId));
    for (const handler of handlers ?? []) setImmediate(() => handler(signal));
    return handlers !== undefined;
  }

  async listen(
    slot: Slot,
    callId: string,
    handler: (signal: Signal) => void,
  ): Promise<Subscription> {
    const key = this.keyOf(checkSlot(slot), callId);
    const handlers = this.handlers.get(key) ?? new Set();
    this.handlers.set(key, handlers.add(handler));
    return {
      close: async () => {
        handlers.delete(handler);
        if (handlers.size === 0) this.handlers.delete(key);
      },
    };
  }

  protected keyOf(slot: Slot, callId: string): string {
    return `${slotText(slot)}${callId}`;
  }
}
