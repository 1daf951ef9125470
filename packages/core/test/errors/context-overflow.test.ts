import { describe, expect, test } from "vitest";
import { ContextOverflowError, ModelError } from "../../src/index.js";
import { asContextOverflow, isContextOverflow } from "../../src/plugin-kit/index.js";

/** As the AI SDK's providers throw it. */
function apiCallError(statusCode: number, data: unknown, message?: string): Error {
  return Object.assign(new Error(message ?? "Bad Request"), {
    name: "AI_APICallError",
    statusCode,
    data,
    responseBody: JSON.stringify(data),
    isRetryable: false,
  });
}

const openAi = (message: string, code: string | null = null) => ({
  error: { message, type: "invalid_request_error", param: "messages", code },
});
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } });
const google = (message: string) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } });

/** Errors that mean "too long", and the window they name. */
const overflows: readonly [string, unknown, number | undefined][] = [
  [
    "OpenAI chat",
    apiCallError(
      400,
      openAi(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130012 tokens. Please reduce the length of the messages.",
        "context_length_exceeded",
      ),
    ),
    128_000,
  ],
  [
    "OpenAI responses",
    apiCallError(
      400,
      openAi(
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "context_length_exceeded",
      ),
    ),
    undefined,
  ],
  [
    "Anthropic",
    apiCallError(
      400,
      anthropic("invalid_request_error", "prompt is too long: 210345 tokens > 200000 maximum"),
    ),
    200_000,
  ],
  [
    "Anthropic with the reply's length",
    apiCallError(
      400,
      anthropic(
        "invalid_request_error",
        "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length or `max_tokens` and try again",
      ),
    ),
    200_000,
  ],
  [
    "Anthropic 413",
    apiCallError(413, anthropic("request_too_large", "Request exceeds the maximum size")),
    undefined,
  ],
  [
    "Google",
    apiCallError(
      400,
      google(
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      ),
    ),
    1_048_576,
  ],
  ["Bedrock", new Error("ValidationException: Input is too long for requested model."), undefined],
  [
    "xAI",
    new Error(
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    ),
    131_072,
  ],
  [
    "Mistral",
    new Error(
      "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    ),
    32_768,
  ],
  [
    "vLLM",
    apiCallError(400, {
      object: "error",
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, 1000 in the completion).",
      type: "BadRequestError",
      code: 400,
    }),
    4_096,
  ],
  [
    "vLLM prompt",
    new Error("The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
    4_096,
  ],
  [
    "llama.cpp",
    apiCallError(400, {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 5000,
        n_ctx: 4096,
      },
    }),
    4_096,
  ],
  ["Ollama", new Error("prompt too long; exceeded max context length by 12 tokens"), undefined],
  [
    "Moonshot",
    new Error("Invalid request: Your request exceeded model token limit: 131072"),
    131_072,
  ],
  ["Copilot", new Error("prompt token count of 140000 exceeds the limit of 128000"), 128_000],
  ["MiniMax", new Error("invalid params, context window exceeds limit"), undefined],
  [
    "Cohere",
    new Error("too many tokens: total number of tokens in the prompt cannot exceed 4081"),
    4_081,
  ],
  ["Qwen", new Error("Range of input length should be [1, 30720]"), undefined],
  ["z.ai", new Error("Prompt exceeds max length"), undefined],
  [
    "LM Studio",
    new Error(
      "The number of tokens to keep from the initial prompt is greater than the context length",
    ),
    undefined,
  ],
  [
    "LM Studio in mid-reply",
    new Error(
      "Reached context length of 4096 tokens with this model, but this model does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.",
    ),
    4_096,
  ],
  [
    "LM Studio over what to keep",
    new Error("Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)"),
    4_096,
  ],
  [
    "llama.cpp in mid-reply",
    apiCallError(500, { error: { code: 500, message: "Context size has been exceeded." } }),
    undefined,
  ],
  [
    "TGI",
    apiCallError(422, {
      error: "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
      error_type: "validation",
    }),
    4_095,
  ],
  [
    "Together",
    new Error("The input (8193 tokens) is longer than the model's context length (8192 tokens)."),
    8_192,
  ],
  [
    "SGLang",
    new Error(
      "Input length (9000 tokens) exceeds the maximum allowed length (8191 tokens). Use a shorter input or enable --allow-auto-truncate.",
    ),
    8_191,
  ],
  [
    "a server that names its limit after a colon",
    new Error("Too many tokens; maximum context length: 32768."),
    32_768,
  ],
  [
    "Google without brackets",
    apiCallError(
      400,
      google("The input token count exceeds the maximum number of tokens allowed 1048576."),
    ),
    1_048_576,
  ],
  ["a gateway", new Error("input exceeds the token limit"), undefined],
  ["a gateway in two words", new Error("token limit exceeded"), undefined],
  [
    "a gateway with its limit",
    apiCallError(400, openAi("Your request exceeds the token limit of 128000")),
    128_000,
  ],
  ["a gateway with both figures", new Error("Token limit exceeded: 9000 > 8192 tokens"), 8_192],
  [
    "a gateway on the whole",
    new Error("the request exceeds the maximum allowed token limit"),
    undefined,
  ],
  [
    "a prompt over its limit",
    new Error("prompt exceeds token limit (9000 tokens > 8192 token limit)"),
    8_192,
  ],
  [
    "OpenAI with a configured limit",
    apiCallError(
      400,
      openAi(
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens.",
      ),
    ),
    272_000,
  ],
  [
    "GitHub Models",
    apiCallError(413, {
      error: {
        code: "tokens_limit_reached",
        message: "Request body too large for gpt-4o model. Max size: 8000 tokens.",
      },
    }),
    8_000,
  ],
  [
    "GitHub Copilot",
    apiCallError(400, openAi("too long", "model_max_prompt_tokens_exceeded")),
    undefined,
  ],
  [
    "Bedrock with its count",
    new Error(
      "ValidationException: Too many input tokens. Max input tokens: 8192, request input token count: 9411",
    ),
    8_192,
  ],
  [
    "Bedrock Nova",
    new Error(
      "ValidationException: Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
    ),
    undefined,
  ],
  [
    "Vertex",
    new Error(
      "Unable to submit request because the input token count is 36000 but model only supports up to 32768. Reduce the input token count and try again.",
    ),
    32_768,
  ],
  [
    "Cohere in bulk",
    new Error(
      "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
    ),
    undefined,
  ],
  ["Databricks", new Error("BAD_REQUEST: prompt token count (9052) cannot exceed 4096."), 4_096],
  [
    "watsonx",
    new Error(
      "the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
    ),
    8_192,
  ],
  [
    "Perplexity",
    new Error("Messages have 17034 tokens, which exceeds the max limit of 16384 tokens."),
    16_384,
  ],
  [
    "TensorRT-LLM",
    new Error(
      "The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)",
    ),
    8_192,
  ],
  ["ExLlama", new Error("Prompt length 40000 is greater than max_seq_len 32768"), 32_768],
  ["Doubao", new Error("Total tokens of image and text exceed max message tokens"), undefined],
  [
    "Cerebras",
    new Error(
      "Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192",
    ),
    8_192,
  ],
  ["llama-cpp-python", new Error("Requested tokens (2065) exceed context window of 1800"), 1_800],
  ["status 413 and no body", apiCallError(413, undefined, "413 status code (no body)"), undefined],
  [
    "inside the cause of the cause",
    new ModelError("the provider failed", {
      cause: new Error("request failed", {
        cause: apiCallError(400, openAi("too long", "context_length_exceeded")),
      }),
    }),
    undefined,
  ],
  ["a rejected string", "context_length_exceeded", undefined],
];

/** Errors that speak of tokens and mean something else. */
const others: readonly [string, unknown][] = [
  [
    "tokens per minute",
    apiCallError(
      429,
      openAi(
        "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 60000. The input or output tokens must be reduced in order to run successfully.",
        "rate_limit_exceeded",
      ),
    ),
  ],
  ["429 that speaks of the context", apiCallError(429, openAi("maximum context length", null))],
  [
    "throttling",
    new Error("ThrottlingException: Too many tokens, please wait before trying again."),
  ],
  [
    "quota",
    new Error("You exceeded your current quota, please check your plan and billing details."),
  ],
  ["authentication", apiCallError(401, openAi("Incorrect API key provided", "invalid_api_key"))],
  ["overloaded", apiCallError(529, anthropic("overloaded_error", "Overloaded"))],
  ["an ordinary error", new TypeError("fetch failed")],
  [
    "a wrong parameter",
    apiCallError(
      400,
      openAi(
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
      ),
    ),
  ],
  [
    "a rate in the words of a window",
    new Error(
      "Rate limit reached: input length (9000 tokens) exceeds the maximum allowed length of 8000 tokens per minute",
    ),
  ],
  [
    "a limit on a field",
    apiCallError(400, openAi("Invalid 'metadata': it exceeds the maximum allowed length of 512.")),
  ],
  ["a daily limit", new Error("Daily token limit exceeded")],
  [
    "a monthly limit",
    apiCallError(403, {
      error: "Token limit exceeded",
      message: "You have reached your monthly token limit. Please upgrade to Pro.",
    }),
  ],
  ["what an account may use", new Error("You have exceeded your token limit for this model")],
  ["a limit per hour", new Error("Your request exceeds the token limit of 100000 tokens per hour")],
  ["a limit on keys", new Error("API token limit exceeded: delete one of your 10 tokens first")],
  [
    "a limit on the reply",
    new Error("The maximum tokens you requested exceeds the model limit of 32768"),
  ],
  [
    "a limit on the reply, in other words",
    new Error("max_tokens exceeds the output token limit of 8192"),
  ],
  [
    "a reply that is too long to ask for",
    apiCallError(
      400,
      anthropic(
        "invalid_request_error",
        "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
      ),
    ),
  ],
  ["throttling without its name", new Error("Too many tokens, please wait before trying again.")],
  ["throttling of the day", new Error("Too many tokens per day, please wait before trying again.")],
  ["input tokens that come too fast", new Error("Too many input tokens per minute")],
  ["a token that expired", new Error("The access token exceeded its lifetime")],
  [
    "too many tools",
    apiCallError(
      400,
      openAi("Invalid 'tools': array too long. Expected an array with maximum length 128."),
    ),
  ],
  ["nothing", undefined],
];

describe("what providers say when a request is too long", () => {
  test.each(overflows)("%s is recognised, with the window where it is named", (_, error, limit) => {
    expect(isContextOverflow(error)).toBe(true);
    const overflow = asContextOverflow(error, "the request");
    expect(ContextOverflowError.is(overflow)).toBe(true);
    expect(overflow?.limitTokens).toBe(limit);
    expect(overflow?.cause).toBe(error);
  });

  test.each(others)("%s is not mistaken for it", (_, error) => {
    expect(isContextOverflow(error)).toBe(false);
    expect(asContextOverflow(error, "the request")).toBeNull();
  });
});

test("words of a server that is not in the list can be added", () => {
  const error = new Error("E4711: Kontext zu lang");
  expect(isContextOverflow(error)).toBe(false);
  expect(isContextOverflow(error, [/kontext zu lang/i])).toBe(true);
  // A pattern with a memory is asked twice.
  const sticky = /E4711/g;
  expect(isContextOverflow(error, [sticky]) && isContextOverflow(error, [sticky])).toBe(true);
});

test("an error that is already one passes as it is", () => {
  const error = new ContextOverflowError("too long", { limitTokens: 5 });
  expect(asContextOverflow(error, "the request")).toBe(error);
});

test("what the error quotes does not enter the message", () => {
  const error = new Error("prompt is too long: my secret is swordfish");
  expect(asContextOverflow(error, "the request to model m")?.message).toBe(
    "the request to model m is longer than the model's context window",
  );
});

test("a chain of causes that bites its tail ends", () => {
  const error: Error & { cause?: unknown } = new Error("outer");
  error.cause = new Error("inner", { cause: error });
  expect(isContextOverflow(error)).toBe(false);
});

test("an error whose kind is known is of that kind, whatever its cause quotes", () => {
  const cause = new Error("prompt is too long");
  const refused = new ModelError("refused", { kind: "content", cause });
  expect(isContextOverflow(refused)).toBe(false);
  expect(isContextOverflow(new ModelError("failed", { cause }))).toBe(true);
});
