import type { Signal } from "@holdfast/core/store-kit";
import type { SignalEntry } from "./signal-entry.js";

interface Listener {
  readonly handler: (signal: Signal) => void;
  /** Ids of signals it was told, so that one that comes two ways is told once. */
  readonly heard: Set<string>;
}

/** Listeners of this process, by call. */
export class Listeners {
  readonly #byCall = new Map<string, Set<Listener>>();

  /** Number of calls with listeners; 0 when every call has finished. */
  get size(): number {
    return this.#byCall.size;
  }

  has(call: string): boolean {
    return this.#byCall.has(call);
  }

  /** The function returned ends listening. */
  add(call: string, handler: (signal: Signal) => void): () => void {
    const listener: Listener = { handler, heard: new Set() };
    const listeners = this.#byCall.get(call) ?? new Set();
    this.#byCall.set(call, listeners.add(listener));
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) this.#byCall.delete(call);
    };
  }

  /** Tells the listeners of a call; returns whether there are any. */
  tell(call: string, { id, signal }: SignalEntry): boolean {
    const listeners = [...(this.#byCall.get(call) ?? [])];
    for (const { handler, heard } of listeners) {
      if (heard.has(id)) continue;
      heard.add(id);
      try {
        handler(signal);
      } catch {
        // A listener that throws does not stand between others and their signals.
      }
    }
    return listeners.length > 0;
  }
}
