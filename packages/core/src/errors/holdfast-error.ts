/**
 * Codes of errors. A package adds its own by declaration merging, and throws them as a {@link HoldfastError}:
 *
 * @example
 * declare module "@holdfast/core" {
 *   interface ErrorCodes {
 *     BUDGET_SPENT: true;
 *   }
 * }
 * throw new HoldfastError("BUDGET_SPENT", "the tokens of this month are spent");
 */
export interface ErrorCodes {
  readonly ABORTED: true;
  readonly AMBIGUOUS_INTERRUPT: true;
  readonly CALL_ID_REUSED: true;
  readonly CONFIGURATION: true;
  readonly CONFLICT: true;
  readonly CONTEXT_OVERFLOW: true;
  readonly CORRUPT: true;
  readonly EMPTY_REPLY: true;
  readonly INVALID_ID: true;
  readonly INVALID_INPUT: true;
  readonly LEASE_LOST: true;
  readonly MIDDLEWARE: true;
  readonly MODEL: true;
  readonly PENDING_CONFIRMATION: true;
  /** A plugin could not reach something outside, other than the store. */
  readonly SERVICE_UNAVAILABLE: true;
  readonly SESSION_BUSY: true;
  readonly SHUTTING_DOWN: true;
  readonly STATE_TOO_NEW: true;
  readonly STRUCTURED_OUTPUT: true;
  readonly TOO_LARGE: true;
  readonly UNAVAILABLE: true;
  readonly UNKNOWN_OUTCOME: true;
}

/** Every code a {@link HoldfastError} can carry. Codes are stable: programs may switch on them. */
export type ErrorCode = keyof ErrorCodes;

const brand = Symbol.for("holdfast.error");

/**
 * Base of every error Holdfast throws.
 *
 * Contract:
 * - `code` is stable across releases.
 * - Messages name the failed action, the session and a remedy; they never hold state contents.
 * - Use {@link HoldfastError.is}, not `instanceof`: two copies of this package may be installed.
 */
export class HoldfastError extends Error {
  override readonly name: string = "HoldfastError";
  readonly code: ErrorCode;

  static {
    Object.defineProperty(HoldfastError.prototype, brand, { value: true });
  }

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Tells whether `value` is an error of this library, made by any copy of it. */
  static is(value: unknown): value is HoldfastError {
    return typeof value === "object" && value !== null && brand in value;
  }
}

/** Tells whether `value` is a Holdfast error with this code. */
export function hasErrorCode(value: unknown, code: ErrorCode): value is HoldfastError {
  return HoldfastError.is(value) && value.code === code;
}
