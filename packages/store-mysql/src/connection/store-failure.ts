import {
  StateTooLargeError,
  type StoreError,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "@holdfast/core";
import type { StatementError } from "./session.js";

/**
 * Makes the error that callers see. It has the code of the driver's error, but no statement, values or address.
 *
 * @param what - what was attempted, for example `saving session "s"`
 */
export function storeFailure(
  what: string,
  { server }: StatementError,
  mayHaveApplied: boolean,
): StoreError {
  // A plain error: the driver's own carries the statement, which would end up in logs.
  const options = { cause: new Error(server.code) };
  if (mayHaveApplied)
    return new UnknownOutcomeError(
      `${what} got no clear answer (${server.code}); it may have been applied, repeat it to find out`,
      options,
    );
  const message = `${what} failed: ${server.advice} (${server.code})`;
  return server.verdict === "too-large"
    ? new StateTooLargeError(message, options)
    : new StoreUnavailableError(message, options);
}
