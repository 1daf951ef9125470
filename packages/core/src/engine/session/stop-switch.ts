import { setMaxListeners } from "node:events";
import { CallAbortedError } from "../../errors/errors.js";
import type { Message } from "../../message/message.js";
import type { StopKind } from "../../plugin-kit/stop-kind.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import type { InterruptControl } from "../../state/interrupt-control.js";

export type { StopKind } from "../../plugin-kit/stop-kind.js";

/** Thrown inside the engine to leave a stopped call, and the reason of its signal; never reaches a caller. */
export class CallStopped extends Error {
  override readonly name = "CallStopped";
  readonly kind: StopKind;

  constructor(kind: StopKind) {
    super(`the call was stopped: ${kind}`);
    this.kind = kind;
  }
}

/**
 * Stops one call, once: the first reason counts.
 *
 * `signal` aborts models and tools. The same object is the state's `interruptControl`.
 */
export class StopSwitch implements InterruptControl {
  readonly #controller = new AbortController();
  #kind: StopKind | null = null;
  readonly #messages: Message[] = [];
  #isClosed = false;
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
    return this.#messages[0] ?? null;
  }

  /** Every message that came with an interrupt so far. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Cause of the stop, for example the caller's abort reason. */
  get cause(): unknown {
    return this.#cause;
  }

  isInterrupted(): boolean {
    return this.#kind === "interrupt" || this.#kind === "rollback";
  }

  stop(kind: StopKind, options: { message?: Message | undefined; cause?: unknown } = {}): void {
    const { message } = options;
    if (message && kind === "interrupt" && (this.#kind ?? kind) === kind && !this.#isClosed)
      this.#messages.push(message);
    if (this.#kind !== null) return;
    this.#kind = kind;
    this.#cause = options.cause;
    this.#controller.abort(new CallStopped(kind));
  }

  /** Takes no more messages: the call is about to be saved with those it has. */
  close(): void {
    this.#isClosed = true;
  }

  /** @throws CallStopped when stopped */
  check(): void {
    if (this.#kind !== null) throw this.#controller.signal.reason;
  }

  /** Settles as `work` does, or rejects as soon as the call is stopped, whichever comes first. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    return orAborted(work, this.signal);
  }
}

/** Settles as `work` does, or rejects with the reason of `signal` as soon as it aborts, whichever comes first. */
export function orAborted<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).then(() => signal.removeEventListener("abort", aborted));
  });
}

/** Returns the error of a call that its caller aborted. */
export function callAborted(slot: Slot, cause: unknown): CallAbortedError {
  return new CallAbortedError(`the call on ${describeSlot(slot)} was aborted by its caller`, {
    cause,
  });
}
