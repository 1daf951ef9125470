import { deepFreeze, type Signal } from "@holdfast/core/store-kit";
import type { SentSignal } from "../gate/sent-signal.js";

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
        // A handler that throws does not stand between itself and its next signal.
      }
    }
  }

  close(): void {
    this.#isClosed = true;
  }
}
