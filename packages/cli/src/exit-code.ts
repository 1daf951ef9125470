import type { ErrorCode } from "@holdfast/core";

/** Exit codes of the command. They are stable: scripts may rely on them. */
export const exitCodes = {
  ok: 0,
  /** The command failed; the message says why. */
  failed: 1,
  /** An option, an argument or the config file is wrong; nothing was done. */
  usage: 2,
  /** A named session, directory or file does not exist. */
  notFound: 3,
  /** The stored data is not as expected: a conflict, a busy session, a failed check. */
  conflict: 4,
  /** The store could not be reached or refused to work. */
  unavailable: 5,
  /** A tool call needs an approval and nobody is there to give it; the session keeps waiting. */
  waiting: 6,
  /** Interrupted by Ctrl-C. */
  interrupted: 130,
  /** Ended by SIGTERM, or because the terminal was closed; work in progress is saved. */
  terminated: 143,
} as const;

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const byErrorCode: Readonly<Record<ErrorCode, ExitCode>> = {
  ABORTED: exitCodes.interrupted,
  AMBIGUOUS_INTERRUPT: exitCodes.failed,
  BUDGET_EXCEEDED: exitCodes.failed,
  CALL_ID_REUSED: exitCodes.usage,
  CONFIGURATION: exitCodes.usage,
  CONFLICT: exitCodes.conflict,
  CONTEXT_OVERFLOW: exitCodes.failed,
  CORRUPT: exitCodes.conflict,
  EMPTY_REPLY: exitCodes.failed,
  INVALID_ID: exitCodes.usage,
  INVALID_INPUT: exitCodes.usage,
  LEASE_LOST: exitCodes.conflict,
  MIDDLEWARE: exitCodes.failed,
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

/** Returns the exit code for an error. */
export function exitCodeOf(error: unknown): ExitCode {
  if (CommandError.is(error)) return error.exitCode;
  return isHoldfastError(error) ? byErrorCode[error.code] : exitCodes.failed;
}

/** Recognises an error by its code: importing `HoldfastError` would make `--help` load the whole engine. */
export function isHoldfastError(error: unknown): error is Error & { readonly code: ErrorCode } {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    Object.hasOwn(byErrorCode, error.code)
  );
}

/** Ends a command with a message and an exit code. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly exitCode: ExitCode;

  /** @param message - what failed, on what, and what to do; printed without a stack. Empty when it was printed already */
  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }

  /** Returns whether `value` is a {@link CommandError}. */
  static is(value: unknown): value is CommandError {
    return value instanceof CommandError;
  }
}

/** Causes that are printed at most. */
const MAX_CAUSES = 5;

/** Formats an error for the terminal; with `HOLDFAST_DEBUG` including its causes. */
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
