import { HoldfastError } from "../errors/holdfast-error.js";
import { StoreUnavailableError, UnknownOutcomeError } from "../errors/store-errors.js";

/** Longest delay of a timer in milliseconds; a timer with a longer one, such as `Infinity`, fires immediately. */
export const longestTimerMs: number = 2 ** 31 - 1;

/**
 * Resolves to the result of `run`, or rejects with `onTimeout()` when that takes longer than `ms`.
 *
 * Only the wait ends: the work goes on, and its later result or error is ignored. Leaves no timer behind.
 */
export async function withDeadline<T>(
  run: () => Promise<T>,
  ms: number,
  onTimeout: () => Error,
): Promise<T> {
  const running = run();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), Math.min(ms, longestTimerMs));
    const ended = () => clearTimeout(timer);
    running.then(ended, ended);
    running.then(resolve, reject);
  });
}

/**
 * Runs a command that changes nothing, within a deadline.
 *
 * @param what - the attempted action, for the error, for example `loading session "s"`
 * @throws StoreUnavailableError when it takes longer or fails; a `HoldfastError` of the command is passed on
 */
export function boundedRead<T>(what: string, ms: number, run: () => Promise<T>): Promise<T> {
  return bounded(
    run,
    ms,
    (problem, options) => new StoreUnavailableError(`${what} ${problem}; try again later`, options),
  );
}

/**
 * Runs a command that changes something, within a deadline.
 *
 * @param what - the attempted action, for the error, for example `saving session "s"`
 * @throws UnknownOutcomeError when it takes longer or fails: it may have been applied all the same; a `HoldfastError` of
 * the command is passed on
 */
export function boundedWrite<T>(what: string, ms: number, run: () => Promise<T>): Promise<T> {
  return bounded(
    run,
    ms,
    (problem, options) =>
      new UnknownOutcomeError(
        `${what} ${problem}; it may have been applied, repeat it to find out`,
        options,
      ),
  );
}

async function bounded<T>(
  run: () => Promise<T>,
  ms: number,
  failure: (problem: string, options?: ErrorOptions) => HoldfastError,
): Promise<T> {
  try {
    return await withDeadline(run, ms, () => failure(`got no answer within ${Math.round(ms)} ms`));
  } catch (cause) {
    throw HoldfastError.is(cause) ? cause : failure("failed", { cause });
  }
}

/** Resolves after `ms`, or as soon as `signal` aborts; leaves neither timer nor listener behind. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    }
    const timer = setTimeout(wake, ms);
    signal?.addEventListener("abort", wake);
  });
}
