/** A point in time after which something is given up. */
export interface Deadline extends Disposable {
  /** Aborts when the time is over, or when the signal it was made with does. */
  readonly signal: AbortSignal;
}

/** A deadline that does not keep the process alive; whoever needs it no longer disposes of it. */
export function deadlineAfter(ms: number, stop: AbortSignal): Deadline {
  // Not AbortSignal.any over AbortSignal.timeout: on Node.js 20 garbage collection takes such a signal before it fires.
  const controller = new AbortController();
  const onStop = (): void => controller.abort(stop.reason);
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop, { once: true });
  const timer = setTimeout(() => {
    controller.abort(new DOMException("the time is over", "TimeoutError"));
  }, ms).unref();
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      stop.removeEventListener("abort", onStop);
    },
  };
}
