import { longestTimerMs } from "../store-kit/deadline.js";

/** How long something may take. Whoever made it disposes of it when the work is done. */
export interface TimeLimit extends Disposable {
  /** Aborts when the time is over, or when somebody else says so. */
  readonly signal: AbortSignal;
}

/** What else there is to say about a {@link timeLimit}. */
export interface TimeLimitOptions {
  /** Signals that end it early, each with its own reason. */
  readonly stops?: readonly AbortSignal[] | undefined;
  /** Why the signal aborts when the time is over. @default a `DOMException` named `TimeoutError` */
  readonly reason?: (() => unknown) | undefined;
  /** Whether the timer alone keeps the process running. @default true */
  readonly keepsAlive?: boolean | undefined;
}

/**
 * A signal for work that must end in time and heeds it; `withDeadline` is for work that does not. Disposed of, it leaves
 * neither timer nor listener behind.
 *
 * Not `AbortSignal.any` over `AbortSignal.timeout`: on Node.js 20 garbage collection takes such a signal before it fires.
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
