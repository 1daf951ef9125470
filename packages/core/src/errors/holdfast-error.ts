/** Every code a {@link HoldfastError} can carry. Codes are stable: programs may switch on them. */
export type ErrorCode =
  | "ABORTED"
  | "AMBIGUOUS_INTERRUPT"
  | "CONFIGURATION"
  | "CONFLICT"
  | "CONTEXT_OVERFLOW"
  | "CORRUPT"
  | "EMPTY_REPLY"
  | "INVALID_ID"
  | "INVALID_INPUT"
  | "LEASE_LOST"
  | "MODEL"
  | "PENDING_CONFIRMATION"
  | "SERVICE_UNAVAILABLE"
  | "SESSION_BUSY"
  | "SHUTTING_DOWN"
  | "STATE_TOO_NEW"
  | "STRUCTURED_OUTPUT"
  | "TOO_LARGE"
  | "UNAVAILABLE"
  | "UNKNOWN_OUTCOME";

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
