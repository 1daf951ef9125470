import type { ErrorCode } from "@holdfast/core";

/** What the command's exit codes mean. They are stable: scripts may go by them. */
export const exitCodes = {
  ok: 0,
  /** It was tried and failed; the message says why. */
  failed: 1,
  /** An option, an argument or the config file is wrong; nothing was done. */
  usage: 2,
  /** A session, directory or file that was named is not there. */
  notFound: 3,
  /** What is stored is not what was expected: a conflict, a busy session, a check that failed. */
  conflict: 4,
  /** The store could not be reached or refused to work. */
  unavailable: 5,
  /** Ctrl-C ended it early. */
  interrupted: 130,
  /** SIGTERM ended it, or its terminal went away; what was under way is saved. */
  terminated: 143,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const byErrorCode: Readonly<Record<ErrorCode, ExitCode>> = {
  ABORTED: exitCodes.interrupted,
  AMBIGUOUS_INTERRUPT: exitCodes.failed,
  CONFIGURATION: exitCodes.usage,
  CONFLICT: exitCodes.conflict,
  CONTEXT_OVERFLOW: exitCodes.failed,
  CORRUPT: exitCodes.conflict,
  EMPTY_REPLY: exitCodes.failed,
  INVALID_ID: exitCodes.usage,
  INVALID_INPUT: exitCodes.usage,
  LEASE_LOST: exitCodes.conflict,
  MODEL: exitCodes.failed,
  PENDING_CONFIRMATION: exitCodes.conflict,
  SERVICE_UNAVAILABLE: exitCodes.unavailable,
  SESSION_BUSY: exitCodes.conflict,
  SHUTTING_DOWN: exitCodes.terminated,
  STATE_TOO_NEW: exitCodes.conflict,
  STRUCTURED_OUTPUT: exitCodes.failed,
  TOO_LARGE: exitCodes.failed,
  UNAVAILABLE: exitCodes.unavailable,
  UNKNOWN_OUTCOME: exitCodes.unavailable,
};

/** The exit code for an error that ended a command. */
export function exitCodeOf(error: unknown): ExitCode {
  if (CommandError.is(error)) return error.exitCode;
  return isHoldfastError(error) ? byErrorCode[error.code] : exitCodes.failed;
}

/** By its code, which is stable: `HoldfastError.is` would have `--help` load the whole engine. */
export function isHoldfastError(error: unknown): error is Error & { readonly code: ErrorCode } {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    Object.hasOwn(byErrorCode, error.code)
  );
}

/** Ends a command with a message for a person and an exit code. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;

  /** @param message - what failed, on what, and what to do; shown without a stack. Empty: it has been said already */
  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }

  /** Whether `value` is one. */
  static is(value: unknown): value is CommandError {
    return value instanceof CommandError;
  }
}

/** A cause of a cause of a cause tells nothing new. */
const MAX_CAUSES = 5;

/** What to tell a person about an error; with `HOLDFAST_DEBUG` also what it was caused by. */
export function errorText(error: unknown, env: NodeJS.ProcessEnv): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!env["HOLDFAST_DEBUG"]) return message;
  const causes: string[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause instanceof Error && causes.length < MAX_CAUSES) {
    causes.push(`\n  caused by ${cause.name}: ${cause.message}`);
    cause = cause.cause;
  }
  return message + causes.join("");
}
