import { HoldfastError } from "../errors/holdfast-error.js";
import { StoreUnavailableError, UnknownOutcomeError } from "../errors/store-errors.js";
import { withDeadline } from "./deadline.js";

/**
 * Runs a command that changes nothing, within a deadline.
 *
 * @param what - for the error: what is attempted, for example `loading session "s"`
 * @throws StoreUnavailableError when it takes longer or fails; a `HoldfastError` of the command is passed on
 */
export function boundedRead<T>(what: string, ms: number, run: () => Promise<T>): Promise<T> {
  return bounded(
    run,
    ms,
    (how, options) => new StoreUnavailableError(`${what} ${how}; try again later`, options),
  );
}

/**
 * Runs a command that changes something, within a deadline.
 *
 * @throws UnknownOutcomeError when it takes longer or fails: it may have been applied all the same; a `HoldfastError` of
 * the command is passed on
 */
export function boundedWrite<T>(what: string, ms: number, run: () => Promise<T>): Promise<T> {
  return bounded(
    run,
    ms,
    (how, options) =>
      new UnknownOutcomeError(
        `${what} ${how}; it may have been applied, repeat it to find out`,
        options,
      ),
  );
}

async function bounded<T>(
  run: () => Promise<T>,
  ms: number,
  failure: (how: string, options?: ErrorOptions) => HoldfastError,
): Promise<T> {
  try {
    return await withDeadline(run, ms, () => failure(`got no answer within ${ms} ms`));
  } catch (cause) {
    throw HoldfastError.is(cause) ? cause : failure("failed", { cause });
  }
}
