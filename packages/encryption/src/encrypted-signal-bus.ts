import type { Message, Reach, SignalBus, Slot } from "@holdfast/core";
import type { ListenOptions, Signal, Subscription } from "@holdfast/core/store-kit";
import { checkSlot, deepFreeze, describeSlot, slotText } from "@holdfast/core/store-kit";
import { EncryptedGate } from "./encrypted-gate.js";
import type { KeyRing } from "./key-ring.js";
import { openMessage, Seals, sealedMessage } from "./seals.js";

/** Signal bus that seals the messages of signals, since its backend may store them in transit. */
export class EncryptedSignalBus implements SignalBus {
  readonly contract: 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly #inner: SignalBus;
  readonly #ring: KeyRing;

  constructor(inner: SignalBus, ring: KeyRing) {
    this.contract = inner.contract;
    this.kind = `encrypted-${inner.kind}`;
    this.reach = inner.reach;
    this.#inner = inner;
    this.#ring = ring;
  }

  async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    const { kind, message } = signal;
    const owner = checkSlot(slot);
    if (message === undefined) return this.#inner.send(owner, callId, signal);
    const sealed = this.#seals(owner).seal(JSON.stringify(message), callId, kind);
    return this.#inner.send(owner, callId, { kind, message: sealedMessage(message, { sealed }) });
  }

  /**
   * Delivers a signal whose message cannot be opened without the message: a request to stop a call must not be ignored, and
   * text that was not sealed with a key must not be read.
   */
  async listen(
    slot: Slot,
    callId: string,
    handler: (signal: Signal) => void,
    options?: ListenOptions,
  ): Promise<Subscription> {
    const owner = checkSlot(slot);
    return this.#inner.listen(
      owner,
      callId,
      (signal) => handler(this.#opened(owner, callId, signal)),
      options?.enters && { enters: EncryptedGate.innerOf(options.enters) },
    );
  }

  #opened(slot: Slot, callId: string, { kind, message }: Signal): Signal {
    if (message === undefined) return Object.freeze({ kind });
    return deepFreeze({ kind, message: this.#openMessage(slot, callId, kind, message) });
  }

  #openMessage(slot: Slot, callId: string, kind: string, message: Message): Message | undefined {
    try {
      const what = `a signal to ${describeSlot(slot)}`;
      return openMessage(this.#seals(slot), message, what, callId, kind);
    } catch {
      return undefined;
    }
  }

  #seals(slot: Slot): Seals {
    return new Seals(this.#ring, "holdfast.signal.1", slotText(slot));
  }
}
