import { ShuttingDownError } from "../../errors/errors.js";
import { describeSlot, type Slot } from "../../slot/slot.js";
import { callAborted, StopSwitch } from "./stop-switch.js";

/** Ways in which a call is made to end from outside: by its caller, by an interrupt, or because the agent ends. */
export class CallExits {
  /** Stops the call once it has its session. */
  readonly stop: StopSwitch = new StopSwitch();
  readonly #agent: string;
  readonly #slot: Slot;
  readonly #leaving = new AbortController();
  readonly #draining = new AbortController();
  readonly #abandoned = new AbortController();

  /** @param agent - name of the agent */
  constructor(agent: string, slot: Slot) {
    this.#agent = agent;
    this.#slot = slot;
  }

  /** Aborts while the call waits for its turn. */
  get leaving(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Aborts when the agent begins to shut down. */
  get draining(): AbortSignal {
    return this.#draining.signal;
  }

  /** Aborts when the agent ends without waiting for the call any longer. */
  get abandoned(): AbortSignal {
    return this.#abandoned.signal;
  }

  drain(): void {
    const why = new ShuttingDownError(
      `agent "${this.#agent}" is shutting down; ${describeSlot(this.#slot)} was still waiting. Send the call to another process`,
    );
    this.#draining.abort(why);
    this.leave(why);
  }

  abandon(): void {
    this.#abandoned.abort(
      new ShuttingDownError(
        `agent "${this.#agent}" shut down before the call on ${describeSlot(this.#slot)} ended: its store, a hook or a plugin gave no answer. Repeat the call in another process, or resume it there; once it had the session, what it was asked is kept`,
      ),
    );
  }

  /** Ends the wait for the call's turn. */
  leave(why: unknown): void {
    this.#leaving.abort(why);
  }

  /** Ties the caller's signal to the call; the function returned unties it. */
  heed(signal: AbortSignal | undefined): () => void {
    if (!signal) return () => undefined;
    const abort = () => {
      this.stop.stop("abort", { cause: signal.reason });
      this.leave(callAborted(this.#slot, signal.reason));
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  }
}
