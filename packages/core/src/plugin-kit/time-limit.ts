/// <reference lib="esnext.disposable" preserve="true" />
import { longestTimerMs } from "../store-kit/deadline.js";

/** Time limit of some work; dispose of it when the work is done. */
export interface TimeLimit extends Disposable {
  /** Aborts when the time is over, or when one of `stops` aborts. */
  readonly signal: AbortSignal;
}

/** Options of {@link timeLimit}. */
export interface TimeLimitOptions {
  /** Signals that abort it early, with their own reason. */
  readonly stops?: readonly AbortSignal[] | undefined;
  /** Returns the signal's reason when the time is over. @default a `DOMException` named `TimeoutError` */
  readonly reason?: (() => unknown) | undefined;
  /** Lets the timer alone keep the process running. @default true */
  readonly keepsAlive?: boolean | undefined;
}

/**
 * Makes a signal that aborts after `ms`, for work that honours signals; `withDeadline` is for work that does not. Once
 * disposed of, it leaves neither timer nor listener behind.
 *
 * Not `AbortSignal.any` over `AbortSignal.timeout`: on Node.js 20 such a signal is garbage-collected before it fires.
 *
 * @example
 * using limit = timeLimit(timeoutMs, { stops: [signal] });
 * await ask(question, limit.signal);
 */
export function timeLimit(ms: number, options: TimeLimitOptions = {}): TimeLimit {
  const { stops = [], reason = timeIsOver, keepsAlive = true } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(reason()), Math.min(ms, longestTimerMs));
  if (!keepsAlive) timer.unref();
  const listeners = stops.map((stop) => {
    const end = (): void => controller.abort(stop.reason);
    if (stop.aborted) end();
    stop.addEventListener("abort", end, { once: true });
    return () => stop.removeEventListener("abort", end);
  });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      for (const remove of listeners) remove();
    },
  };
}

function timeIsOver(): DOMException {
  return new DOMException("the time is over", "TimeoutError");
}
