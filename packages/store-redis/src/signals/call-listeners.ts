import type { Slot } from "@holdfast/core";
import { deepFreeze, type Signal, slotText } from "@holdfast/core/store-kit";
import type { RedisReply } from "../connection/redis-connection.js";

/** A signal as it is stored and sent: its id, by which a repeated one is recognised, and its JSON. */
export interface SentSignal {
  readonly id: string;
  readonly text: string;
}

/** Reads the signals in a script's reply, in the order in which they were sent, which their ids tell. */
export function readSignals(reply: RedisReply | undefined): readonly SentSignal[] {
  const parts = Array.isArray(reply) ? reply : [];
  const signals: SentSignal[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2)
    signals.push({ id: String(parts[at]), text: String(parts[at + 1]) });
  return signals.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Hands signals to a handler: each once, by whichever ways it comes, until closed. */
export class CallListener {
  readonly #handler: (signal: Signal) => void;
  readonly #heard = new Set<string>();
  #isClosed = false;

  constructor(handler: (signal: Signal) => void) {
    this.#handler = handler;
  }

  hear(signals: readonly SentSignal[]): void {
    for (const { id, text } of signals) {
      if (this.#isClosed || this.#heard.has(id)) continue;
      this.#heard.add(id);
      try {
        this.#handler(deepFreeze(JSON.parse(text) as Signal));
      } catch {
        // A handler that throws does not keep its next signal away.
      }
    }
  }

  close(): void {
    this.#isClosed = true;
  }
}

/** Listeners of this process by call. A call without one takes no memory. */
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
    if (signals.length === 0) return;
    for (const listener of [...(this.#byCall.get(callKey(slot, callId)) ?? [])])
      listener.hear(signals);
  }
}

function callKey(slot: Slot, callId: string): string {
  return slotText(slot) + callId;
}
