import assert from "node:assert/strict";
import {
  InvalidIdError,
  InvalidInputError,
  LeaseLostError,
  SessionBusyError,
  StateConflictError,
  StateCorruptError,
  StateTooLargeError,
  StoreError,
} from "@holdfast/core";

/** Errors that contracts name for a refusal. */
export type Refusal =
  | "InvalidIdError"
  | "InvalidInputError"
  | "LeaseLostError"
  | "SessionBusyError"
  | "StateConflictError"
  | "StateCorruptError"
  | "StateTooLargeError";

// By brand and code, not by instanceof: the implementation may have its own copy of core.
const kinds: { readonly [kind in Refusal]: (error: unknown) => boolean } = {
  InvalidIdError: InvalidIdError.is,
  InvalidInputError: InvalidInputError.is,
  LeaseLostError: LeaseLostError.is,
  SessionBusyError: SessionBusyError.is,
  StateConflictError: StateConflictError.is,
  StateCorruptError: StateCorruptError.is,
  StateTooLargeError: StateTooLargeError.is,
};

/** Fails unless `work` rejects with an error of this kind. */
export async function assertRejects(
  work: () => Promise<unknown>,
  kind: Refusal,
  what: string,
): Promise<void> {
  const error = await rejectionOf(work, `${what} must be refused with ${kind}`);
  if (!kinds[kind](error))
    throw new assert.AssertionError({
      message: `${what} must be refused with ${kind}, but failed with ${named(error)}`,
      actual: error,
    });
}

/** Fails unless `work` rejects with a `StoreError` that says the backend could not be used. */
export async function assertOutage(work: () => Promise<unknown>, what: string): Promise<void> {
  const wanted = `${what} on a broken backend must fail as UNAVAILABLE or UNKNOWN_OUTCOME`;
  const error = await rejectionOf(work, wanted);
  if (
    !StoreError.is(error) ||
    (error.errorClass !== "UNAVAILABLE" && error.errorClass !== "UNKNOWN_OUTCOME")
  )
    throw new assert.AssertionError({
      message: `${wanted}, but failed with ${named(error)}`,
      actual: error,
    });
}

/** Returns the error `work` rejects with; fails with `wanted` when it resolves. */
export async function rejectionOf(work: () => Promise<unknown>, wanted: string): Promise<unknown> {
  let result: unknown;
  try {
    result = await work();
  } catch (error) {
    return error;
  }
  throw new assert.AssertionError({
    message: `${wanted}, but it resolved to ${describe(result)}`,
    actual: result,
  });
}

function named(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

function describe(value: unknown): string {
  return typeof value === "object" && value !== null ? "an object" : JSON.stringify(value);
}
