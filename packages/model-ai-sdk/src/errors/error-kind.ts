import type { ModelErrorKind } from "@holdfast/core";
import type { ErrorFacts } from "./error-facts.js";

/** Kind of a failure, and what to do about it. */
export interface ErrorKind {
  readonly kind: ModelErrorKind;
  readonly retryable: boolean;
  /** Advice to the operator of the agent. */
  readonly advice: string;
}

const connectionCodes =
  /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_|CERT_|ERR_TLS|DEPTH_ZERO)/;
const connectionWords =
  /cannot connect to api|fetch failed|\bterminated\b|socket hang up|other side closed|network error|connection (was )?(closed|reset|lost)/i;
const authenticationWords =
  /authentication_error|invalid_api_key|invalid x-api-key|API_KEY_INVALID|api key not valid|UNAUTHENTICATED|permission_error|PERMISSION_DENIED/i;
const quotaWords =
  /insufficient_quota|billing_hard_limit|billing_error|credit balance is too low|insufficient (credits|balance)|requires more credits/i;
const rateWords =
  /rate_limit|rate limit|too many requests|RESOURCE_EXHAUSTED|throttl|tokens per min|\bTPM\b/i;
const overloadWords =
  /overloaded|UNAVAILABLE|over capacity|server is busy|capacity exceeded|no healthy upstream/i;
const contentWords =
  /content_filter|content_policy|content management policy|content filtering policy|ResponsibleAIPolicy|invalid_prompt|safety (system|reasons|filter|polic)|blocked.{0,60}safety|^SAFETY$|PROHIBITED_CONTENT|moderation|flagged/im;
const unfinishedWords = /without a finish reason/i;
const serverWords = /server_error|api_error|internal error|INTERNAL\b|InternalServerError/i;
const requestWords = /invalid_request|INVALID_ARGUMENT|BadRequestError|not_found_error|NOT_FOUND/i;

/** Errors that AI SDK packages throw before anything is sent, or about an unreadable response. */
const sdkErrors: Readonly<Record<string, ErrorKind>> = {
  AI_LoadAPIKeyError: authentication(),
  AI_LoadSettingError: invalid("set what the provider's package requires"),
  AI_NoSuchModelError: invalid("check the model's id"),
  AI_UnsupportedFunctionalityError: invalid("the provider's package does not support a part of it"),
  AI_InvalidPromptError: invalid("the provider's package does not accept the prompt"),
  AI_InvalidArgumentError: invalid("check settings and providerOptions"),
  AI_TypeValidationError: unreadable(),
  AI_JSONParseError: unreadable(),
  AI_InvalidResponseDataError: unreadable(),
  AI_EmptyResponseBodyError: unreadable(),
  AI_NoContentGeneratedError: unreadable(),
};

/** Classifies a failure that is not about the length of the request. */
export function errorKind(facts: ErrorFacts): ErrorKind {
  const { statusCode: status, words, name, codes, isRetryable, isReported } = facts;
  if (status !== undefined && status >= 400) return byStatus(status, words);
  if (name === "StalledError" || codes.some((code) => connectionCodes.test(code)))
    return connection();
  if (authenticationWords.test(words)) return authentication();
  if (quotaWords.test(words)) return quota();
  if (rateWords.test(words)) return rateLimit(words);
  if (overloadWords.test(words)) return overloaded();
  if (contentWords.test(words)) return content();
  // The package's error for a stream that ends cleanly in the middle of a reply.
  if (name === "AI_InvalidResponseDataError" && unfinishedWords.test(words)) return connection();
  const known = sdkErrors[name];
  if (known !== undefined) return known;
  if (serverWords.test(words)) return server();
  if (requestWords.test(words)) return invalid();
  if (connectionWords.test(words)) return connection();
  if (name === "AI_APICallError")
    return status === undefined && isRetryable
      ? connection()
      : { ...server(), retryable: isRetryable ?? false };
  // An unknown error event ended a reply that had started normally.
  if (isReported) return server();
  return { kind: "unknown", retryable: false, advice: "see the cause" };
}

function byStatus(status: number, words: string): ErrorKind {
  if (status === 402 || quotaWords.test(words)) return quota();
  if (status === 429 || (status === 413 && rateWords.test(words))) return rateLimit(words);
  // Routers refuse a flagged prompt with the status of a missing permission.
  if (status === 403 && contentWords.test(words)) return content();
  if (status === 401 || status === 403 || (status === 400 && authenticationWords.test(words)))
    return authentication();
  // 498 is Groq's: no capacity for the flex tier.
  if (
    status === 498 ||
    status === 503 ||
    status === 529 ||
    (status >= 500 && overloadWords.test(words))
  )
    return overloaded();
  if (status >= 500) return server();
  if (status === 408 || status === 409 || status === 425) return connection();
  return contentWords.test(words) ? content() : invalid();
}

function rateLimit(words: string): ErrorKind {
  // More tokens in one request than the account may send in a minute: waiting does not help.
  if (/request too large/i.test(words))
    return {
      kind: "rate_limit",
      retryable: false,
      advice:
        "one request is over the account's tokens per minute: raise the limit, compact earlier or lower maxOutputTokens",
    };
  return { kind: "rate_limit", retryable: true, advice: "wait, or raise the account's limit" };
}

function quota(): ErrorKind {
  return {
    kind: "rate_limit",
    retryable: false,
    advice: "the account has no quota or credit left",
  };
}

function overloaded(): ErrorKind {
  return {
    kind: "overloaded",
    retryable: true,
    advice: "the provider is overloaded: try later or set a fallback model",
  };
}

function authentication(): ErrorKind {
  return {
    kind: "authentication",
    retryable: false,
    advice: "check the API key and its permissions",
  };
}

function content(): ErrorKind {
  return { kind: "content", retryable: false, advice: "the provider's content policy refused it" };
}

function connection(): ErrorKind {
  return {
    kind: "connection",
    retryable: true,
    advice: "check the network and the provider's address",
  };
}

function server(): ErrorKind {
  return { kind: "unknown", retryable: true, advice: "the provider failed: try later" };
}

function invalid(advice = "the provider does not accept the request: see the cause"): ErrorKind {
  return { kind: "invalid_request", retryable: false, advice };
}

function unreadable(): ErrorKind {
  return {
    kind: "unknown",
    retryable: true,
    advice: "the answer was not in the provider's format",
  };
}
