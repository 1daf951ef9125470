import { randomUUID } from "node:crypto";
import { StateTooLargeError } from "../../errors/store-errors.js";
import type { Reach } from "../../ports/agent-state-store.js";
import type { SessionGate } from "../../ports/session-gate.js";
import type { ListenOptions, Signal, SignalBus, Subscription } from "../../ports/signal-bus.js";
import { checkId, checkSlot, describeSlot, type Slot, slotKey } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import { MAX_VALUE_BYTES } from "../check-key.js";
import { Heartbeat } from "../lease/heartbeat.js";
import { keepListener, leaveGate, leaveSignal } from "./gate-document.js";
import { type GateDocuments, SignalListener } from "./gate-documents.js";

/** Pause after a heartbeat that failed. */
const RETRY_MS = 200;

/** Settings of a {@link DocumentSignalBus}. */
export interface DocumentSignalOptions {
  readonly kind: string;
  readonly reach: Reach;
  readonly leaseMs: number;
}

/**
 * Carries signals in the documents of the gate: left beside the call they are meant for, found when its process next looks, and
 * gone with the call.
 *
 * - A call that enters the gate of the same store needs no registration to listen.
 * - A signal is at most 1 MB as JSON.
 */
export class DocumentSignalBus implements SignalBus {
  readonly contract = 1;
  readonly kind: string;
  readonly reach: Reach;
  readonly #gates: GateDocuments;
  readonly #gate: SessionGate;
  readonly #leaseMs: number;
  readonly #registrations = new Set<() => Promise<void>>();

  constructor(gates: GateDocuments, gate: SessionGate, options: DocumentSignalOptions) {
    this.kind = options.kind;
    this.reach = options.reach;
    this.#gates = gates;
    this.#gate = gate;
    this.#leaseMs = options.leaseMs;
  }

  async send(slot: Slot, callId: string, signal: Signal): Promise<boolean> {
    const owner = checkSlot(slot);
    const call = checkId(callId, "callId");
    const what = `signalling a call of ${describeSlot(owner)}`;
    const left = { id: uuidv7(), text: JSON.stringify(signal) };
    const bytes = Buffer.byteLength(left.text, "utf8");
    if (bytes > MAX_VALUE_BYTES)
      throw new StateTooLargeError(
        `${what} failed: the signal takes ${bytes} bytes as JSON; at most ${MAX_VALUE_BYTES} are accepted`,
      );
    const change = leaveSignal;
    return this.#gates.documents.update(slotKey(owner), what, (gate) => change(gate, call, left));
  }

  async listen(
    slot: Slot,
    callId: string,
    handler: (signal: Signal) => void,
    options: ListenOptions = {},
  ): Promise<Subscription> {
    const owner = checkSlot(slot);
    const call = checkId(callId, "callId");
    const listener = new SignalListener(handler);
    const removeListener = this.#gates.addListener(slotKey(owner), call, listener);
    const end =
      options.enters === this.#gate ? undefined : await this.#register(owner, call, removeListener);
    return {
      close: async () => {
        listener.close();
        removeListener();
        await end?.();
      },
    };
  }

  /** Withdraws every registration. */
  async close(): Promise<void> {
    await Promise.all([...this.#registrations].map((end) => end()));
  }

  /** Makes a call known that does not enter the gate; returns the function that withdraws it. */
  async #register(slot: Slot, callId: string, onFailure: () => void): Promise<() => Promise<void>> {
    const name = slotKey(slot);
    const token = randomUUID();
    const { documents } = this.#gates;
    const what = `listening for a call of ${describeSlot(slot)}`;
    let beat = 0;
    const keep = () =>
      documents.update(name, what, (gate) => keepListener(gate, { token, callId, beat: ++beat }));
    const heartbeat = new Heartbeat(() =>
      keep().then(
        () => this.#leaseMs / 3,
        () => Math.min(RETRY_MS, this.#leaseMs / 3),
      ),
    );
    const endWatch = this.#gates.watch(name, token, {
      ...{ callId, isHeld: false },
      wake: () => undefined,
    });
    let ended: Promise<void> | undefined;
    const withdraw = async (): Promise<void> => {
      this.#registrations.delete(end);
      endWatch();
      // After the heartbeat under way, which would bring it back.
      await heartbeat.stop();
      await documents.update(name, what, (gate) => leaveGate(gate, token)).catch(() => undefined);
    };
    const end = (): Promise<void> => {
      ended ??= withdraw();
      return ended;
    };
    this.#registrations.add(end);
    try {
      await keep();
    } catch (error) {
      onFailure();
      void end();
      throw error;
    }
    heartbeat.schedule(this.#leaseMs / 3);
    return end;
  }
}
