import { ContextOverflowError, HoldfastError, ModelError } from "@holdfast/core";
import { asContextOverflow } from "@holdfast/core/plugin-kit";
import { type ErrorFacts, errorFacts, hasSdkMarker } from "./error-facts.js";
import { judge } from "./error-kind.js";
import { withoutQuotations } from "./provider-words.js";
import { retryAfterMs } from "./retry-after.js";

/** What was asked of whom when it failed. */
export interface FailedCall {
  /** The model's id. */
  readonly model: string;
  readonly overflowPatterns?: readonly RegExp[] | undefined;
  /** @default now */
  readonly now?: number | undefined;
}

/**
 * What a provider's failure means to an agent: `ContextOverflowError` when the request was longer than the window, else
 * `ModelError` with its kind and whether to try again. Messages never have what was sent in them, nor what the provider
 * said, which may quote it; the cause has the provider's message without quotations, the request, the body and the headers.
 */
export function classifyError(error: unknown, call: FailedCall): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const facts = errorFacts(error);
  const { statusCode } = facts;
  const what = `the request to model ${call.model}`;
  // Only by the provider's own words: what an answer quotes must not make an overflow, nor hide one.
  const said = { statusCode, message: facts.words };
  const overflow = asContextOverflow(said, what, call.overflowPatterns);
  if (overflow)
    return new ContextOverflowError(overflow.message, {
      cause: causeOf(error, facts),
      limitTokens: overflow.limitTokens,
    });
  const { kind, retryable, advice } = judge(facts);
  const status = statusCode === undefined ? "" : ` (HTTP ${statusCode})`;
  return new ModelError(`model ${call.model} failed: ${kind}${status}; ${advice}`, {
    kind,
    retryable,
    statusCode,
    retryAfterMs: retryable ? retryAfterMs(facts, call.now ?? Date.now()) : undefined,
    cause: causeOf(error, facts, kind === "authentication"),
  });
}

const maxMessageChars = 500;

/**
 * A small error in the place of the original. An `APICallError` carries the whole request and the whole answer: whoever
 * logs it logs the conversation, and whoever keeps it keeps the conversation in memory. Of refused keys some servers quote
 * the key, so there not even the message stays.
 */
function causeOf(error: unknown, facts: ErrorFacts, isSecret = false): Error {
  const message = innermostMessage(error);
  const cause = new Error(
    isSecret ? "(not shown: it may quote the key)" : clip(withoutQuotations(message)),
  );
  cause.name = facts.name;
  if (error instanceof Error && error.stack !== undefined && !isSecret)
    cause.stack = `${cause.name}: ${cause.message}\n${framesOf(error.stack)}`;
  return cause;
}

/** The provider's words are at the bottom of what packages wrap around them. */
function innermostMessage(error: unknown): string {
  let message = typeof error === "string" ? error : "";
  let value: unknown = error;
  for (let depth = 0; depth < 6 && typeof value === "object" && value !== null; depth++) {
    // These two quote the reply; of the second the cause tells what was wrong with it.
    if (hasSdkMarker(value, "AI_JSONParseError")) break;
    const quotes = hasSdkMarker(value, "AI_TypeValidationError");
    if (!quotes && "message" in value && typeof value.message === "string" && value.message !== "")
      message = value.message;
    value = "cause" in value ? value.cause : "error" in value ? value.error : undefined;
  }
  return message;
}

function clip(text: string): string {
  return text.length > maxMessageChars ? `${text.slice(0, maxMessageChars)}…` : text;
}

function framesOf(stack: string): string {
  return stack
    .split("\n")
    .filter((line) => /^\s+at /.test(line))
    .join("\n");
}
