import { longestTimerMs } from "@holdfast/core/store-kit";

/** Reason why the client ended a call. */
export type CallEnd = "stopped" | "silence" | "too_long";

/** Ends a call after a time without progress, after a time in total, or when it is stopped. */
export class CallDeadline {
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
    this.progress();
    if (stop?.aborted) this.#end("stopped");
    stop?.addEventListener("abort", this.#onStop, { once: true });
  }

  /** Aborts when the time is over. The server gets its reason, which therefore says no more than necessary. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Reason the call was ended; null while it may run. */
  get why(): CallEnd | null {
    return this.#why;
  }

  /** Restarts the time without progress. */
  progress(): void {
    if (this.#why !== null) return;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(
      () => this.#end("silence"),
      Math.min(this.#silenceMs, longestTimerMs),
    );
  }

  /** Releases the timers and the signal. */
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
