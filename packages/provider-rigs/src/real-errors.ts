import { anthropicError } from "./anthropic/anthropic-errors.js";
import { googleError } from "./google/google-errors.js";
import { openAiError } from "./openai/openai-errors.js";
import { openAiOverflow, openAiOverflowInStream } from "./openai/openai-server.js";
import type { WireFailure } from "./wire-reply.js";

/** The failures every provider has, in its own words. */
export interface RealErrors {
  /** The request is longer than the model's window. */
  readonly overflow: WireFailure;
  /** Too many requests; says when to come back: after 2 seconds. */
  readonly rateLimit: WireFailure;
  /** The service has no capacity at the moment. */
  readonly overloaded: WireFailure;
  /** The key is wrong. */
  readonly authentication: WireFailure;
  /** The key may not do this. */
  readonly permission: WireFailure;
  /** The prompt or the answer was blocked for what it says. */
  readonly content: WireFailure;
  /** The request is malformed. */
  readonly invalid: WireFailure;
}

const openAi: RealErrors & {
  /** The same in a stream: status 200, then an error event. */
  readonly overflowInStream: WireFailure;
  /** The same with the fields of the error in the event itself. */
  readonly overflowInStreamFlat: WireFailure;
  /** The same as a response that failed. */
  readonly overflowInStreamFailed: WireFailure;
  /** The account is out of money: a 429 that no waiting helps. */
  readonly quota: WireFailure;
} = {
  overflow: openAiOverflow,
  overflowInStream: openAiOverflowInStream.nested,
  overflowInStreamFlat: openAiOverflowInStream.flat,
  overflowInStreamFailed: openAiOverflowInStream.failed,
  rateLimit: openAiError(
    429,
    "Rate limit reached for gpt-5 in organization org-test on tokens per min (TPM): Limit 30000, Used 29500, Requested 1500. Please try again in 2s. Visit https://platform.openai.com/account/rate-limits to learn more.",
    {
      type: "tokens",
      code: "rate_limit_exceeded",
      headers: {
        "retry-after": "2",
        "retry-after-ms": "2000",
        "x-ratelimit-remaining-tokens": "500",
        "x-ratelimit-reset-tokens": "2s",
      },
    },
  ),
  quota: openAiError(
    429,
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.",
    { type: "insufficient_quota", code: "insufficient_quota" },
  ),
  overloaded: openAiError(503, "The engine is currently overloaded, please try again later", {
    type: "server_error",
  }),
  authentication: openAiError(
    401,
    "Incorrect API key provided: test. You can find your API key at https://platform.openai.com/account/api-keys.",
    { code: "invalid_api_key" },
  ),
  permission: openAiError(403, "Project `proj_test` does not have access to model `gpt-5`", {
    code: "model_not_found",
  }),
  content: openAiError(
    400,
    "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt: https://platform.openai.com/docs/guides/reasoning#advice-on-prompting",
    { code: "invalid_prompt" },
  ),
  invalid: openAiError(400, "Unknown parameter: 'nonsense'.", {
    param: "nonsense",
    code: "unknown_parameter",
  }),
};

const openAiChat: RealErrors = {
  ...openAi,
  overflow: openAiError(
    400,
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
    { param: "messages", code: "context_length_exceeded" },
  ),
};

const anthropic: RealErrors & {
  /** More than 32 MB. */
  readonly tooLarge: WireFailure;
} = {
  overflow: anthropicError(
    400,
    "invalid_request_error",
    "prompt is too long: 208310 tokens > 200000 maximum",
  ),
  tooLarge: anthropicError(413, "request_too_large", "Request exceeds the maximum size"),
  rateLimit: anthropicError(
    429,
    "rate_limit_error",
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute. For details, refer to: https://docs.claude.com/en/api/rate-limits.",
    { "retry-after": "2", "anthropic-ratelimit-input-tokens-remaining": "0" },
  ),
  overloaded: anthropicError(529, "overloaded_error", "Overloaded"),
  authentication: anthropicError(401, "authentication_error", "invalid x-api-key"),
  permission: anthropicError(
    403,
    "permission_error",
    "Your API key does not have permission to use the specified resource",
  ),
  content: anthropicError(
    400,
    "invalid_request_error",
    "Output blocked by content filtering policy",
  ),
  invalid: anthropicError(400, "invalid_request_error", "nonsense: Extra inputs are not permitted"),
};

const google: RealErrors = {
  overflow: googleError(
    400,
    "INVALID_ARGUMENT",
    "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
  ),
  rateLimit: googleError(
    429,
    "RESOURCE_EXHAUSTED",
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\nPlease retry in 2s.",
    [
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [
          {
            quotaMetric: "generativelanguage.googleapis.com/generate_content_requests",
            quotaId: "GenerateRequestsPerMinutePerProjectPerModel",
          },
        ],
      },
      // Google says it in the body, and sends no Retry-After header.
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "2s" },
    ],
  ),
  overloaded: googleError(503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
  authentication: googleError(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "API_KEY_INVALID",
        domain: "googleapis.com",
        metadata: { service: "generativelanguage.googleapis.com" },
      },
    ],
  ),
  permission: googleError(
    403,
    "PERMISSION_DENIED",
    "Your project has been denied access. Please contact support.",
  ),
  content: {
    status: 200,
    body: {
      promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
      usageMetadata: { promptTokenCount: 12, totalTokenCount: 12 },
    },
  },
  invalid: googleError(
    400,
    "INVALID_ARGUMENT",
    'Invalid JSON payload received. Unknown name "nonsense": Cannot find field.',
  ),
};

/** Answers of the real providers when they fail; give one to a reply as its `error`. */
export const realErrors: {
  readonly openAi: typeof openAi;
  readonly openAiChat: RealErrors;
  readonly anthropic: typeof anthropic;
  readonly google: RealErrors;
} = { openAi, openAiChat, anthropic, google };
