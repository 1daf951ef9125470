import {
  StateTooLargeError,
  type StoreError,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "@holdfast/core";
import type { StatementError } from "./session.js";

/**
 * The error callers see. Of the driver's error it has the code; statement, values and address stay behind.
 *
 * @param what - what was attempted, for example `saving session "s"`
 */
export function storeFailure(
  what: string,
  { server }: StatementError,
  mayHaveApplied: boolean,
): StoreError {
  // A plain error: the driver's own has the statement on it, and whoever logs it would log that, too.
  const options = { cause: new Error(server.code) };
  if (mayHaveApplied)
    return new UnknownOutcomeError(
      `${what} got no clear answer (${server.code}); it may have been applied, repeat it to find out`,
      options,
    );
  const message = `${what} failed (${server.code}): ${server.advice}`;
  return server.verdict === "too-large"
    ? new StateTooLargeError(message, options)
    : new StoreUnavailableError(message, options);
}
