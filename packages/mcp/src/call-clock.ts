import { longestTimerMs } from "@holdfast/core/store-kit";

/** Why a call was ended from this side. */
export type CallEnd = "stopped" | "silence" | "too_long";

/** How long a call may take: so long without a sign of life, so long in all, and until it is told to stop. */
export class CallClock {
  readonly #controller = new AbortController();
  readonly #stop: AbortSignal | undefined;
  readonly #silenceMs: number;
  readonly #total: NodeJS.Timeout;
  readonly #onStop = (): void => this.#end("stopped");
  #silence: NodeJS.Timeout | undefined;
  #why: CallEnd | null = null;

  constructor(silenceMs: number, totalMs: number, stop: AbortSignal | undefined) {
    this.#silenceMs = silenceMs;
    this.#stop = stop;
    this.#total = setTimeout(() => this.#end("too_long"), Math.min(totalMs, longestTimerMs));
    this.signOfLife();
    if (stop?.aborted) this.#end("stopped");
    stop?.addEventListener("abort", this.#onStop, { once: true });
  }

  /** Aborts when the time is over. Its reason goes to the server, so it says no more than it must. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why the time is over; null while it is not. */
  get why(): CallEnd | null {
    return this.#why;
  }

  signOfLife(): void {
    if (this.#why !== null) return;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(
      () => this.#end("silence"),
      Math.min(this.#silenceMs, longestTimerMs),
    );
  }

  /** Lets go of timers and of the signal. */
  close(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
    this.#stop?.removeEventListener("abort", this.#onStop);
  }

  #end(why: CallEnd): void {
    if (this.#why !== null) return;
    this.#why = why;
    this.close();
    this.#controller.abort(why === "stopped" ? "the call was stopped" : "it took too long");
  }
}
