import { ContextOverflowError, HoldfastError, ModelError } from "@holdfast/core";
import { asContextOverflow } from "@holdfast/core/plugin-kit";
import { StalledError } from "../stream/read-parts.js";
import { type ErrorFacts, errorFacts, hasSdkMarker } from "./error-facts.js";
import { errorKind } from "./error-kind.js";
import { withoutQuotations } from "./provider-words.js";

/** The call that failed. */
export interface FailedCall {
  /** Id of the model. */
  readonly model: string;
  /** Further error messages that mean that a request is longer than the window. */
  readonly overflowPatterns?: readonly RegExp[] | undefined;
  /** Current time in epoch milliseconds. @default now */
  readonly now?: number | undefined;
}

/**
 * Converts a provider's failure to an error of Holdfast: `ContextOverflowError` if the request was longer than the window,
 * otherwise `ModelError` with its kind and whether to retry. Messages contain neither the request nor the provider's message,
 * which may quote it; the cause has the provider's message without quotations, request, body and headers.
 */
export function classifyError(error: unknown, call: FailedCall): HoldfastError {
  if (HoldfastError.is(error)) return error;
  const facts = errorFacts(error);
  const { statusCode } = facts;
  const what = `the request to model ${call.model}`;
  // Only by the provider's own words: a quotation must neither cause an overflow nor hide one.
  const said = { statusCode, message: facts.words };
  const overflow = asContextOverflow(said, what, call.overflowPatterns);
  if (overflow)
    return new ContextOverflowError(overflow.message, {
      cause: causeOf(error, facts),
      limitTokens: overflow.limitTokens,
    });
  const { kind, retryable, advice } = errorKind(facts);
  // Our own words, which quote nothing.
  const hung = error instanceof StalledError ? `model ${call.model} hung: ${error.message}` : null;
  const status = statusCode === undefined ? "" : ` (HTTP ${statusCode})`;
  return new ModelError(hung ?? `model ${call.model} failed: ${kind}${status}; ${advice}`, {
    kind,
    retryable,
    statusCode,
    retryAfterMs: retryable ? retryAfterMs(facts, call.now ?? Date.now()) : undefined,
    cause: causeOf(error, facts, kind === "authentication"),
  });
}

const maxMessageChars = 500;

/**
 * Returns a small error in place of the original. An `APICallError` carries the whole request and response: logging it would
 * log the conversation, and keeping it would keep the conversation in memory. Some servers quote a refused key, so for those
 * not even the message stays.
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

/** Returns the message of the innermost error, which is the provider's own. */
function innermostMessage(error: unknown): string {
  let message = typeof error === "string" ? error : "";
  let value: unknown = error;
  for (let depth = 0; depth < 6 && typeof value === "object" && value !== null; depth++) {
    // These two quote the reply; the cause of the second says what was wrong with it.
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

/** Returns the delay that the provider asks for in a header, in Google's details, or in its message. */
function retryAfterMs({ headers, words }: ErrorFacts, now: number): number | undefined {
  const ms = leadingNumber(headers["retry-after-ms"]);
  if (ms !== undefined) return Math.ceil(ms);
  const after = headers["retry-after"];
  const seconds = leadingNumber(after);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  // A date has letters; `Date.parse` accepts most numbers as well.
  const date = /[a-z]/i.test(after ?? "") ? Date.parse(after ?? "") : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const said =
    /"retryDelay": ?"(\d+(?:\.\d+)?s)"/.exec(words) ??
    /(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|[hms]))+)/i.exec(words);
  return said?.[1] === undefined ? undefined : durationMs(said[1]);
}

/** Reads a header that is a number; a header sent twice is joined by a comma. */
function leadingNumber(header: string | undefined): number | undefined {
  const value = Number(/^\s*(\d+(?:\.\d+)?)\s*(?:,|$)/.exec(header ?? "")?.[1]);
  return Number.isFinite(value) ? value : undefined;
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Converts a duration such as "9m38.016s" to milliseconds. */
function durationMs(text: string): number {
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(ms|[hms])/g))
    total += Number(amount) * (units[unit ?? ""] ?? 0);
  return Math.ceil(total);
}
