import type { Message } from "../message/message.js";

/** The interrupt signal of one running call. Lives in memory only; a resumed session starts cleared. */
export interface InterruptControl {
  isInterrupted(): boolean;
  /** Message for the agent to read, if the interrupt came with one. */
  readonly message: Message | null;
}

/** An {@link InterruptControl} that can be triggered; `signal` aborts at that moment. */
export class InterruptTrigger implements InterruptControl {
  readonly #controller = new AbortController();
  #message: Message | null = null;

  get message(): Message | null {
    return this.#message;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  isInterrupted(): boolean {
    return this.#controller.signal.aborted;
  }

  trigger(message: Message | null = null): void {
    if (this.isInterrupted()) return;
    this.#message = message;
    this.#controller.abort();
  }
}
