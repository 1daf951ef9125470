import { HoldfastError, hasErrorCode } from "./holdfast-error.js";

/** Something the program configured is wrong. `problems` lists every one that was found. */
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

/** A value handed in cannot be kept as JSON, or is not of the expected form. */
export class InvalidInputError extends HoldfastError {
  override readonly name = "InvalidInputError";

  constructor(message: string, options?: ErrorOptions) {
    super("INVALID_INPUT", message, options);
  }

  static override is(value: unknown): value is InvalidInputError {
    return hasErrorCode(value, "INVALID_INPUT");
  }
}

/** The document was written by a newer release that older readers must not touch. */
export class StateTooNewError extends HoldfastError {
  override readonly name = "StateTooNewError";

  constructor(message: string, options?: ErrorOptions) {
    super("STATE_TOO_NEW", message, options);
  }

  static override is(value: unknown): value is StateTooNewError {
    return hasErrorCode(value, "STATE_TOO_NEW");
  }
}

/** The session is running another call and this one may not, or may no longer, wait for it. */
export class SessionBusyError extends HoldfastError {
  override readonly name = "SessionBusyError";

  constructor(message: string, options?: ErrorOptions) {
    super("SESSION_BUSY", message, options);
  }

  static override is(value: unknown): value is SessionBusyError {
    return hasErrorCode(value, "SESSION_BUSY");
  }
}

/** The caller's `signal` ended the call. What the call had done until then was saved. */
export class CallAbortedError extends HoldfastError {
  override readonly name = "CallAbortedError";

  constructor(message: string, options?: ErrorOptions) {
    super("ABORTED", message, options);
  }

  static override is(value: unknown): value is CallAbortedError {
    return hasErrorCode(value, "ABORTED");
  }
}

/** `interrupt()` without a session, while more than one call is in flight. */
export class AmbiguousInterruptError extends HoldfastError {
  override readonly name = "AmbiguousInterruptError";

  constructor(message: string, options?: ErrorOptions) {
    super("AMBIGUOUS_INTERRUPT", message, options);
  }

  static override is(value: unknown): value is AmbiguousInterruptError {
    return hasErrorCode(value, "AMBIGUOUS_INTERRUPT");
  }
}

/** The agent takes no new calls: it is draining or closed. Send the call to another process. */
export class ShuttingDownError extends HoldfastError {
  override readonly name = "ShuttingDownError";

  constructor(message: string, options?: ErrorOptions) {
    super("SHUTTING_DOWN", message, options);
  }

  static override is(value: unknown): value is ShuttingDownError {
    return hasErrorCode(value, "SHUTTING_DOWN");
  }
}

/** The session waits for an answer about open tool calls; plain input cannot go on from there. */
export class PendingConfirmationError extends HoldfastError {
  override readonly name = "PendingConfirmationError";
  /** Ids of the tool calls that wait. */
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
  /** The window in tokens, where the provider named it. */
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
 * Why a model call failed: `rate_limit` and `overloaded` pass, `authentication` needs another key, `content` another
 * conversation, `invalid_request` another request, and after `connection` nobody knows what the provider did.
 */
export type ModelErrorKind =
  | "rate_limit"
  | "overloaded"
  | "authentication"
  | "content"
  | "invalid_request"
  | "connection"
  | "unknown";

/** A model call failed. `retryable` ones are tried again by the engine. */
export class ModelError extends HoldfastError {
  override readonly name = "ModelError";
  readonly retryable: boolean;
  readonly kind: ModelErrorKind;
  /** The HTTP status, where there was one. */
  readonly statusCode: number | undefined;
  /** How long the provider asked to wait before the next attempt; honoured up to `modelRetry.maxDelayMs`. */
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

/** The model answered with neither text nor a tool call, twice. */
export class EmptyReplyError extends HoldfastError {
  override readonly name = "EmptyReplyError";

  constructor(message: string, options?: ErrorOptions) {
    super("EMPTY_REPLY", message, options);
  }

  static override is(value: unknown): value is EmptyReplyError {
    return hasErrorCode(value, "EMPTY_REPLY");
  }
}

/** The model did not produce an output that satisfies the requested schema. */
export class StructuredOutputError extends HoldfastError {
  override readonly name = "StructuredOutputError";

  constructor(message: string, options?: ErrorOptions) {
    super("STRUCTURED_OUTPUT", message, options);
  }

  static override is(value: unknown): value is StructuredOutputError {
    return hasErrorCode(value, "STRUCTURED_OUTPUT");
  }
}
