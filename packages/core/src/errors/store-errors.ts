import { type ErrorCode, HoldfastError, hasErrorCode } from "./holdfast-error.js";

/** Class of a store command's failure (promise P4): every failure is one of these. */
export type StoreErrorClass =
  | "CONFLICT"
  | "UNAVAILABLE"
  | "UNKNOWN_OUTCOME"
  | "TOO_LARGE"
  | "CORRUPT";

/**
 * A store command failed.
 *
 * `mayHaveApplied` tells whether the write could be in the store all the same. When it is true, repeat the same write with
 * the same `op`: the store recognises it.
 */
export class StoreError extends HoldfastError {
  override readonly name: string = "StoreError";
  readonly errorClass: StoreErrorClass;
  readonly mayHaveApplied: boolean;

  constructor(
    code: ErrorCode,
    errorClass: StoreErrorClass,
    mayHaveApplied: boolean,
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
    this.errorClass = errorClass;
    this.mayHaveApplied = mayHaveApplied;
  }

  static override is(value: unknown): value is StoreError {
    return HoldfastError.is(value) && "errorClass" in value;
  }
}

/**
 * Another writer saved first: the stored revision is not the expected one, and this write was not applied. Steps that a call
 * saved before it, with `persistence: "step"`, are in `savedMessageIds`.
 */
export class StateConflictError extends StoreError {
  override readonly name = "StateConflictError";
  /** Ids of the call's messages that earlier saves of the same call had written; empty when there were none. */
  readonly savedMessageIds: readonly string[];
  /** Revision that the store held instead, `null` for none; absent when the error is not about a state. */
  readonly storedRevision: string | null | undefined;

  constructor(
    message: string,
    options?: ErrorOptions & {
      readonly savedMessageIds?: readonly string[] | undefined;
      readonly storedRevision?: string | null | undefined;
    },
  ) {
    super("CONFLICT", "CONFLICT", false, message, options);
    this.savedMessageIds = options?.savedMessageIds ?? [];
    this.storedRevision = options?.storedRevision;
  }

  static override is(value: unknown): value is StateConflictError {
    return hasErrorCode(value, "CONFLICT");
  }
}

/** The lease ended before the work under it did; another process may be running the session. */
export class LeaseLostError extends StoreError {
  override readonly name = "LeaseLostError";

  constructor(message: string, options?: ErrorOptions) {
    super("LEASE_LOST", "CONFLICT", false, message, options);
  }

  static override is(value: unknown): value is LeaseLostError {
    return hasErrorCode(value, "LEASE_LOST");
  }
}

/** The store could not be reached or did not accept the command; the write was certainly not applied. */
export class StoreUnavailableError extends StoreError {
  override readonly name = "StoreUnavailableError";

  constructor(message: string, options?: ErrorOptions) {
    super("UNAVAILABLE", "UNAVAILABLE", false, message, options);
  }

  static override is(value: unknown): value is StoreUnavailableError {
    return hasErrorCode(value, "UNAVAILABLE");
  }
}

/**
 * The answer was lost: the write may or may not be in the store. Repeat the call with the same `callId`; a program that uses a
 * store by itself repeats the write with the same `op`.
 */
export class UnknownOutcomeError extends StoreError {
  override readonly name = "UnknownOutcomeError";

  constructor(message: string, options?: ErrorOptions) {
    super("UNKNOWN_OUTCOME", "UNKNOWN_OUTCOME", true, message, options);
  }

  static override is(value: unknown): value is UnknownOutcomeError {
    return hasErrorCode(value, "UNKNOWN_OUTCOME");
  }
}

/** A message, head, value or state is over its size limit; it was refused before anything was sent. */
export class StateTooLargeError extends StoreError {
  override readonly name = "StateTooLargeError";

  constructor(message: string, options?: ErrorOptions) {
    super("TOO_LARGE", "TOO_LARGE", false, message, options);
  }

  static override is(value: unknown): value is StateTooLargeError {
    return hasErrorCode(value, "TOO_LARGE");
  }
}

/** The stored data is damaged, or a write does not fit it. A store never replaces it with a new state. */
export class StateCorruptError extends StoreError {
  override readonly name = "StateCorruptError";

  constructor(message: string, options?: ErrorOptions) {
    super("CORRUPT", "CORRUPT", false, message, options);
  }

  static override is(value: unknown): value is StateCorruptError {
    return hasErrorCode(value, "CORRUPT");
  }
}
