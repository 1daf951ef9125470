import { setMaxListeners } from "node:events";
import type { Message } from "../../message/message.js";
import type { InterruptControl } from "../../state/interrupt-control.js";

/** Why a call is being stopped. */
export type StopKind = "interrupt" | "rollback" | "shutdown" | "abort" | "lease_lost";

/** Thrown inside the engine to leave a stopped call; never reaches a caller. */
export class CallStopped extends Error {
  override readonly name = "CallStopped";
}

/**
 * Stops one call, once: the first reason counts.
 *
 * `signal` aborts models and tools. The same object is the state's `interruptControl`.
 */
export class StopSwitch implements InterruptControl {
  readonly #controller = new AbortController();
  #kind: StopKind | null = null;
  #message: Message | null = null;
  #cause: unknown;

  constructor() {
    // Every tool of a step listens; Node takes more than ten for a leak.
    setMaxListeners(0, this.#controller.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get kind(): StopKind | null {
    return this.#kind;
  }

  get message(): Message | null {
    return this.#message;
  }

  /** Cause of the stop, for example the caller's abort reason. */
  get cause(): unknown {
    return this.#cause;
  }

  isInterrupted(): boolean {
    return this.#kind === "interrupt" || this.#kind === "rollback";
  }

  stop(kind: StopKind, options: { message?: Message | undefined; cause?: unknown } = {}): void {
    if (this.#kind !== null) return;
    this.#kind = kind;
    this.#message = options.message ?? null;
    this.#cause = options.cause;
    this.#controller.abort(new CallStopped(`the call was stopped: ${kind}`));
  }

  /** @throws CallStopped when stopped */
  check(): void {
    if (this.#kind !== null) throw this.#controller.signal.reason;
  }

  /** Settles as `work` does, or rejects as soon as the call is stopped, whichever comes first. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    const { signal } = this;
    return new Promise<T>((resolve, reject) => {
      const stopped = () => reject(signal.reason);
      if (signal.aborted) stopped();
      signal.addEventListener("abort", stopped, { once: true });
      work.then(resolve, reject).then(() => signal.removeEventListener("abort", stopped));
    });
  }
}
