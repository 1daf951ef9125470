import { describe, expect, test } from "vitest";
import { classifyError } from "../src/index.js";
import { answered } from "./api-call-error.js";

describe("servers that speak like OpenAI", () => {
  test.each([
    [
      "vLLM",
      400,
      {
        object: "error",
        message:
          "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
      16_384,
    ],
    [
      "vLLM since 0.16",
      400,
      {
        error: {
          message:
            "You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens, resulting in a maximum input length of 1014 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=1015)",
          type: "BadRequestError",
          param: "input_tokens",
          code: 400,
        },
      },
      1_014,
    ],
    [
      "llama.cpp",
      400,
      {
        error: {
          code: 400,
          message:
            "the request exceeds the available context size. try increasing the context size or enable context shift",
          type: "exceed_context_size_error",
          n_prompt_tokens: 14429,
          n_ctx: 8192,
        },
      },
      8_192,
    ],
    [
      "llama.cpp, earlier, as a failure of its own",
      500,
      {
        error: {
          code: 500,
          message: "the request exceeds the available context size.",
          type: "exceed_context_size_error",
          n_prompt_tokens: 1407,
          n_ctx: 256,
        },
      },
      256,
    ],
    [
      "llama-cpp-python",
      400,
      { error: { message: "Requested tokens (2285) exceed context window of 2048", code: null } },
      2_048,
    ],
    [
      "LM Studio",
      400,
      {
        error:
          "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
      },
      32_768,
    ],
    [
      "TGI",
      422,
      {
        error: "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
        error_type: "validation",
      },
      4_095,
    ],
    [
      "Together",
      422,
      {
        error: {
          message:
            "The input (8193 tokens) is longer than the model's context length (8192 tokens).",
          type: "invalid_request_error",
        },
      },
      8_192,
    ],
    [
      "llama.cpp in mid-reply",
      500,
      { error: { code: 500, message: "Context size has been exceeded.", type: "server_error" } },
      undefined,
    ],
    [
      "OpenRouter",
      400,
      {
        error: {
          message:
            'This endpoint\'s maximum context length is 131072 tokens. However, you requested about 140000 tokens (139000 of text input, 1000 in the output). Please reduce the length of either one, or use the "middle-out" transform.',
          code: 400,
          metadata: { provider_name: null },
        },
      },
      131_072,
    ],
    [
      "Groq",
      400,
      {
        error: {
          message: "Please reduce the length of the messages or completion.",
          type: "invalid_request_error",
          param: "messages",
          code: "context_length_exceeded",
        },
      },
      undefined,
    ],
  ])("%s: longer than the window", (_, status, body, limitTokens) => {
    const error = classifyError(answered(status, body), { model: "m" });
    expect(error).toMatchObject({ code: "CONTEXT_OVERFLOW", limitTokens });
  });

  test.each([
    [
      "Groq: more in a request than in a minute",
      413,
      {
        error: {
          message:
            "Request too large for model `llama-3.3-70b-versatile` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.",
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      },
      { kind: "rate_limit", retryable: false },
    ],
    [
      "Groq: too many tokens this minute",
      429,
      {
        error: {
          message:
            "Rate limit reached for model `llama-3.3-70b-versatile` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.",
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      },
      { kind: "rate_limit", retryable: true, retryAfterMs: 578_016 },
    ],
    [
      "OpenAI: no credit",
      429,
      { error: { message: "You exceeded your current quota", code: "insufficient_quota" } },
      { kind: "rate_limit", retryable: false },
    ],
    [
      "OpenRouter: no credit",
      402,
      {
        error: {
          message:
            "This request requires more credits, or fewer max_tokens. You requested up to 4096 tokens, but can only afford 222.",
          code: 402,
        },
      },
      { kind: "rate_limit", retryable: false, statusCode: 402 },
    ],
    [
      "Anthropic: no credit",
      400,
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: "Your credit balance is too low to access the Anthropic API.",
        },
      },
      { kind: "rate_limit", retryable: false },
    ],
    [
      "Ollama: no such model",
      404,
      {
        error: {
          message: 'model "llama9" not found, try pulling it first',
          type: "api_error",
          param: null,
          code: null,
        },
      },
      { kind: "invalid_request", retryable: false, statusCode: 404 },
    ],
    [
      "Groq: no capacity for the flex tier",
      498,
      {
        error: {
          message: "Flex tier capacity exceeded, please try again later",
          type: "internal_server_error",
          code: "capacity_exceeded",
        },
      },
      { kind: "overloaded", retryable: true, statusCode: 498 },
    ],
    [
      "a gateway that is down",
      502,
      "<html>Bad Gateway</html>",
      { kind: "unknown", retryable: true },
    ],
    [
      "Azure: blocked prompt",
      400,
      {
        error: {
          message:
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          code: "content_filter",
          status: 400,
        },
      },
      { kind: "content", retryable: false },
    ],
  ])("%s", (_, status, body, expected) => {
    const error = classifyError(answered(status, body), { model: "m" });
    expect(error).toMatchObject({ code: "MODEL", ...expected });
  });
});

test.each([
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
  [{ "retry-after": "3" }, 3_000],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
  [{ "retry-after": "Thu, 01 Jan 2025 00:00:30 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "3, 3" }, 3_000],
  [{ "retry-after": "-3" }, undefined],
  [{ "retry-after-ms": "soon", "retry-after": "3" }, 3_000],
])("retry-after %o", (headers, retryAfterMs) => {
  const now = Date.UTC(2026, 0, 1);
  const error = classifyError(answered(429, {}, headers as never), { model: "m", now });
  expect(error).toMatchObject({ kind: "rate_limit", retryAfterMs });
});

test.each([
  ["Please try again in 1m2.5s.", 62_500],
  ["Please try again in 300ms.", 300],
  ["Please try again in 1.2.3s.", undefined],
  ["Please try again in .s", undefined],
])("%s", (message, retryAfterMs) => {
  const error = classifyError(answered(429, { error: { message } }), { model: "m" });
  expect(error).toMatchObject({ kind: "rate_limit", retryAfterMs });
});

test.each([
  ["AI_LoadAPIKeyError", { kind: "authentication", retryable: false }],
  ["AI_NoSuchModelError", { kind: "invalid_request", retryable: false }],
  ["AI_JSONParseError", { kind: "unknown", retryable: true }],
  ["TypeError", { kind: "unknown", retryable: false }],
])("%s", (name, expected) => {
  const error = Object.assign(new Error("x is not a function"), { name });
  expect(classifyError(error, { model: "m" })).toMatchObject(expected);
});

test("an error of the AI SDK is known by its marker, also inside another error", () => {
  const inner = answered(503, { error: { message: "down" } });
  const outer = Object.assign(new Error("Failed after 3 attempts"), { lastError: inner });
  expect(classifyError(outer, { model: "m" })).toMatchObject({
    kind: "overloaded",
    statusCode: 503,
  });
});

test.each([
  [{ name: "GatewayInternalServerError", statusCode: 503 }, { kind: "overloaded" }],
  [{ name: "APIError", status: 413 }, { code: "CONTEXT_OVERFLOW" }],
])("an error of another kind that has a status is told by it: %o", (fields, expected) => {
  const error = Object.assign(new Error("Sorry."), fields);
  expect(classifyError(error, { model: "m" })).toMatchObject(expected);
});
