import { longestTimerMs } from "@holdfast/core/store-kit";

/** Reason why the client ended a call. */
export type CallEnd = "stopped" | "silence" | "too_long";

/** Ends a call after a time without progress, after a time in total, or when it is stopped. A pause counts as neither. */
export class CallDeadline {
  readonly #controller = new AbortController();
  readonly #silenceMs: number;
  readonly #onStop = (): void => this.#end("stopped");
  #stop: AbortSignal | undefined;
  #silence: NodeJS.Timeout | undefined;
  #total: NodeJS.Timeout | undefined;
  #leftMs: number;
  #runsSince: number | undefined;
  #why: CallEnd | null = null;

  constructor(silenceMs: number, totalMs: number, stop?: AbortSignal) {
    this.#silenceMs = silenceMs;
    this.#leftMs = totalMs;
    this.resume();
    this.stopBy(stop);
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
    if (this.#why !== null || this.#runsSince === undefined) return;
    clearTimeout(this.#silence);
    this.#silence = setTimeout(
      () => this.#end("silence"),
      Math.min(this.#silenceMs, longestTimerMs),
    );
  }

  /** Stops the clock, while the call waits for a person. */
  pause(): void {
    if (this.#runsSince === undefined) return;
    this.#leftMs -= performance.now() - this.#runsSince;
    this.#runsSince = undefined;
    this.#clear();
  }

  /** Lets the clock run on. */
  resume(): void {
    if (this.#why !== null || this.#runsSince !== undefined) return;
    this.#runsSince = performance.now();
    const leftMs = Math.max(1, Math.min(this.#leftMs, longestTimerMs));
    this.#total = setTimeout(() => this.#end("too_long"), leftMs);
    this.progress();
  }

  /** Names the signal that stops the call from now on, in place of the one before. */
  stopBy(stop: AbortSignal | undefined): void {
    this.#stop?.removeEventListener("abort", this.#onStop);
    this.#stop = stop;
    if (stop?.aborted) this.#end("stopped");
    else stop?.addEventListener("abort", this.#onStop, { once: true });
  }

  /** Ends the call as if it had been stopped. */
  stop(): void {
    this.#end("stopped");
  }

  /** Releases the timers and the signal. */
  close(): void {
    this.#clear();
    this.#stop?.removeEventListener("abort", this.#onStop);
  }

  #clear(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#total);
  }

  #end(why: CallEnd): void {
    if (this.#why !== null) return;
    this.#why = why;
    this.close();
    this.#controller.abort(why === "stopped" ? "the call was stopped" : "it took too long");
  }
}
