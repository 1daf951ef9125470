import { HoldfastError, hasErrorCode } from "./holdfast-error.js";

/** The configuration is wrong. `problems` lists everything that was found. */
export class ConfigurationError extends HoldfastError {
  override readonly name = "ConfigurationError";
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options?: ErrorOptions) {
    const list = typeof problems === "string" ? [problems] : problems;
    super(
      "CONFIGURATION",
      list.length === 1 ? String(list[0]) : `${list.length} problems:\n- ${list.join("\n- ")}`,
      options,
    );
    this.problems = list;
  }

  static override is(value: unknown): value is ConfigurationError {
    return hasErrorCode(value, "CONFIGURATION");
  }
}

/** An id is not a non-empty, well-formed string of at most 255 UTF-16 units. */
export class InvalidIdError extends HoldfastError {
  override readonly name = "InvalidIdError";

  constructor(message: string, options?: ErrorOptions) {
    super("INVALID_ID", message, options);
  }

  static override is(value: unknown): value is InvalidIdError {
    return hasErrorCode(value, "INVALID_ID");
  }
}

/** An argument cannot be stored as JSON, or does not have the expected form. */
export class InvalidInputError extends HoldfastError {
  override readonly name = "InvalidInputError";

  constructor(message: string, options?: ErrorOptions) {
    super("INVALID_INPUT", message, options);
  }

  static override is(value: unknown): value is InvalidInputError {
    return hasErrorCode(value, "INVALID_INPUT");
  }
}

/** The `callId` names an earlier call with another input. Repeat the call with its own input, or choose a new `callId`. */
export class CallIdReusedError extends HoldfastError {
  override readonly name = "CallIdReusedError";

  constructor(message: string, options?: ErrorOptions) {
    super("CALL_ID_REUSED", message, options);
  }

  static override is(value: unknown): value is CallIdReusedError {
    return hasErrorCode(value, "CALL_ID_REUSED");
  }
}

/** The stored state was written by a newer release in a form that this one cannot read. */
export class StateTooNewError extends HoldfastError {
  override readonly name = "StateTooNewError";

  constructor(message: string, options?: ErrorOptions) {
    super("STATE_TOO_NEW", message, options);
  }

  static override is(value: unknown): value is StateTooNewError {
    return hasErrorCode(value, "STATE_TOO_NEW");
  }
}

/** The session is running another call, and this one may not wait for it or waited too long. */
export class SessionBusyError extends HoldfastError {
  override readonly name = "SessionBusyError";

  constructor(message: string, options?: ErrorOptions) {
    super("SESSION_BUSY", message, options);
  }

  static override is(value: unknown): value is SessionBusyError {
    return hasErrorCode(value, "SESSION_BUSY");
  }
}

/** The caller's `signal` aborted the call; its work up to then was saved. */
export class CallAbortedError extends HoldfastError {
  override readonly name = "CallAbortedError";

  constructor(message: string, options?: ErrorOptions) {
    super("ABORTED", message, options);
  }

  static override is(value: unknown): value is CallAbortedError {
    return hasErrorCode(value, "ABORTED");
  }
}

/** `interrupt()` was called without a session while more than one call was in flight. */
export class AmbiguousInterruptError extends HoldfastError {
  override readonly name = "AmbiguousInterruptError";

  constructor(message: string, options?: ErrorOptions) {
    super("AMBIGUOUS_INTERRUPT", message, options);
  }

  static override is(value: unknown): value is AmbiguousInterruptError {
    return hasErrorCode(value, "AMBIGUOUS_INTERRUPT");
  }
}

/** The agent accepts no new calls because it is draining or closed. Send the call to another process. */
export class ShuttingDownError extends HoldfastError {
  override readonly name = "ShuttingDownError";

  constructor(message: string, options?: ErrorOptions) {
    super("SHUTTING_DOWN", message, options);
  }

  static override is(value: unknown): value is ShuttingDownError {
    return hasErrorCode(value, "SHUTTING_DOWN");
  }
}

/** The session waits for `{ confirm }` or `{ results }` of open tool calls and cannot take plain input. */
export class PendingConfirmationError extends HoldfastError {
  override readonly name = "PendingConfirmationError";
  /** Ids of the waiting tool calls. */
  readonly toolCallIds: readonly string[];

  constructor(message: string, toolCallIds: readonly string[], options?: ErrorOptions) {
    super("PENDING_CONFIRMATION", message, options);
    this.toolCallIds = toolCallIds;
  }

  static override is(value: unknown): value is PendingConfirmationError {
    return hasErrorCode(value, "PENDING_CONFIRMATION");
  }
}

/** The model refused the request because it is longer than its context window. */
export class ContextOverflowError extends HoldfastError {
  override readonly name = "ContextOverflowError";
  /** Context window in tokens, if the provider named it. */
  readonly limitTokens: number | undefined;

  constructor(
    message: string,
    options?: ErrorOptions & { readonly limitTokens?: number | undefined },
  ) {
    super("CONTEXT_OVERFLOW", message, options);
    this.limitTokens = options?.limitTokens;
  }

  static override is(value: unknown): value is ContextOverflowError {
    return hasErrorCode(value, "CONTEXT_OVERFLOW");
  }
}

/**
 * Kind of a model call's failure.
 *
 * - `rate_limit`, `overloaded`: temporary.
 * - `authentication`: the key is missing or not accepted.
 * - `content`: the provider refused the content of the conversation.
 * - `invalid_request`: the request itself is wrong.
 * - `connection`: the answer was lost; the provider may have processed the request.
 */
export type ModelErrorKind =
  | "rate_limit"
  | "overloaded"
  | "authentication"
  | "content"
  | "invalid_request"
  | "connection"
  | "unknown";

/** A model call failed. The engine retries it when it is `retryable`. */
export class ModelError extends HoldfastError {
  override readonly name = "ModelError";
  readonly retryable: boolean;
  readonly kind: ModelErrorKind;
  /** HTTP status, if there was one. */
  readonly statusCode: number | undefined;
  /** Delay the provider asked for before the next attempt; honoured up to `modelRetry.maxDelayMs`. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options?: ErrorOptions & {
      /** @default false */
      retryable?: boolean | undefined;
      retryAfterMs?: number | undefined;
      /** @default "unknown" */
      kind?: ModelErrorKind | undefined;
      statusCode?: number | undefined;
    },
  ) {
    super("MODEL", message, options);
    this.retryable = options?.retryable ?? false;
    this.kind = options?.kind ?? "unknown";
    this.statusCode = options?.statusCode;
    this.retryAfterMs = options?.retryAfterMs;
  }

  static override is(value: unknown): value is ModelError {
    return hasErrorCode(value, "MODEL");
  }
}

/** The model replied twice with neither text nor a tool call. */
export class EmptyReplyError extends HoldfastError {
  override readonly name = "EmptyReplyError";

  constructor(message: string, options?: ErrorOptions) {
    super("EMPTY_REPLY", message, options);
  }

  static override is(value: unknown): value is EmptyReplyError {
    return hasErrorCode(value, "EMPTY_REPLY");
  }
}

/** The model produced no output that satisfies the requested schema. */
export class StructuredOutputError extends HoldfastError {
  override readonly name = "StructuredOutputError";

  constructor(message: string, options?: ErrorOptions) {
    super("STRUCTURED_OUTPUT", message, options);
  }

  static override is(value: unknown): value is StructuredOutputError {
    return hasErrorCode(value, "STRUCTURED_OUTPUT");
  }
}
