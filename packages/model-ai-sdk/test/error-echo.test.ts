import { inspect } from "node:util";
import { ModelError, userMessage } from "@holdfast/core";
import { isContextOverflow } from "@holdfast/core/plugin-kit";
import { describe, expect, test } from "vitest";
import { classifyError, fromAiSdk } from "../src/index.js";
import { answered, sdkError } from "./api-call-error.js";
import { providers, running } from "./providers.js";
import { chunksOf, failureOf, request } from "./requests.js";

const quoted =
  "Why did I get a rate limit? The prompt is too long, insufficient credits, context_length_exceeded, safety";
const invalid = { code: "MODEL", kind: "invalid_request", retryable: false };

describe("what a provider quotes of a request does not decide what went wrong", () => {
  test.each([
    [
      "in the details of a validation error",
      422,
      {
        detail: [{ type: "string_type", loc: ["body", "messages", 0], msg: "No.", input: quoted }],
      },
    ],
    [
      "in a dump of such details",
      400,
      {
        error: {
          message: `1 validation error:\n  {'type': 'string_type', 'loc': ('body', 'input'), 'msg': 'Input should be a valid string', 'input': [{'role': 'user', 'content': '${quoted}'}]}`,
          type: "Bad Request",
          code: 400,
        },
      },
    ],
    [
      "between quotation marks",
      400,
      { error: { message: `Invalid value: '${quoted}'. Supported values are: 'a' and 'b'.` } },
    ],
    [
      "between quotation marks, with code in it",
      400,
      {
        error: {
          message: `Invalid value: 'function f() { throw new Error(\`${quoted}\`) }'. Supported values are: 'a' and 'b'.`,
        },
      },
    ],
    [
      "between quotation marks, with JSON in it",
      400,
      { error: { message: `Invalid value: '{"message": "${quoted}"}'. Try another.` } },
    ],
    ["between backticks", 400, { error: { message: `Unknown role: \`${quoted}\`.` } }],
    ["between typographic marks", 400, { error: { message: `Unknown role: “${quoted}”.` } }],
    ["between single typographic ones", 400, { error: { message: `No such role: ‘${quoted}’.` } }],
    ["between guillemets", 400, { error: { message: `No such role: «${quoted}».` } }],
    [
      "between quotation marks of an answer behind a proxy",
      400,
      {
        error: {
          message: `litellm.BadRequestError: OpenAIException - ${JSON.stringify({ error: { message: `Invalid value: "${quoted}"`, type: "invalid_request_error" } })}`,
        },
      },
    ],
    [
      "in another field of an answer behind a proxy",
      400,
      {
        error: {
          message: `Upstream said {"error": {"message": "No.", "values": ["${quoted}"]}}, not '${quoted}'`,
        },
      },
    ],
    [
      "beside the message",
      400,
      { error: { message: "No.", code: 400 }, request: { messages: [{ content: quoted }] } },
    ],
  ])("%s", (_, status, body) => {
    const error = classifyError(answered(status, body), { model: "m" });
    expect(error).toMatchObject(invalid);
    // The engine looks into the cause.
    expect(isContextOverflow(error)).toBe(false);
    expect(inspect(error, { depth: 9 })).not.toContain("rate limit?");
    // Packages put the message of the answer into their error.
    const { error: { message = "No." } = {} } = body as { error?: { message?: string } };
    const told = classifyError(Object.assign(answered(status, body), { message }), { model: "m" });
    expect(told).toMatchObject(invalid);
    expect(inspect(told, { depth: 9 })).not.toContain("rate limit?");
  });

  test("nor does what the model said, when its answer cannot be read", () => {
    const chunk = { id: "1", choices: [{ delta: { content: quoted }, index: "zero" }] };
    const cause = Object.assign(new Error("Invalid input: expected number"), { name: "ZodError" });
    const failures = [
      sdkError("AI_TypeValidationError", {
        message: `Type validation failed: Value: ${JSON.stringify(chunk)}.`,
        value: chunk,
        cause,
      }),
      sdkError("AI_JSONParseError", {
        message: `JSON parsing failed: Text: {"content":"${quoted}.`,
        text: `{"content":"${quoted}`,
        cause: new SyntaxError(`Unexpected token 'W', "${quoted}" is not valid JSON`),
      }),
    ];
    for (const failure of failures) {
      const error = classifyError(failure, { model: "m" });
      expect(error).toMatchObject({ code: "MODEL", kind: "unknown", retryable: true });
      expect(isContextOverflow(error)).toBe(false);
      expect(inspect(error, { depth: 9 })).not.toContain("rate limit?");
    }
  });
});

describe("what a provider says about itself decides, wherever it says it", () => {
  const tooLong = "prompt is too long: 208310 tokens > 200000 maximum";

  test.each([
    [
      "a router quotes the provider behind it",
      {
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: {
            raw: JSON.stringify({ type: "error", error: { message: tooLong } }),
            provider_name: "Anthropic",
          },
        },
      },
    ],
    [
      "a proxy puts the answer into its message",
      {
        error: {
          message: `litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"${tooLong}"}}`,
          type: null,
          code: "400",
        },
      },
    ],
    [
      "a proxy adds words of its own after the answer",
      {
        error: {
          message: `litellm.BadRequestError: AnthropicException - {"type":"error","error":{"type":"invalid_request_error","message":"${tooLong}"}}. Received Model Group=claude`,
        },
      },
    ],
    [
      "a proxy shows the bytes of the answer",
      { error: { message: `AnthropicException - b'{"error":{"message":"${tooLong}"}}'` } },
    ],
    [
      "a proxy written in Python shows the answer as an object",
      {
        error: { message: `Error code: 400 - {'error': {'message': '${tooLong}', 'code': None}}` },
      },
    ],
    [
      "a proxy behind a proxy",
      {
        error: {
          message: `Upstream: ${JSON.stringify({ error: { message: `Upstream: ${JSON.stringify({ error: { message: tooLong } })}` } })}`,
        },
      },
    ],
    ["the body is a list", [{ error: { code: 400, message: tooLong } }]],
    ["the detail is a text", { detail: tooLong }],
    ["the body is no JSON", `Error: ${tooLong}`],
  ])("%s", (_, body) => {
    expect(classifyError(answered(400, body), { model: "m" })).toMatchObject({
      code: "CONTEXT_OVERFLOW",
      limitTokens: 200_000,
    });
  });

  test("an error in place of a piece of the reply", () => {
    const value = { error: { message: "Rate limit reached", code: "rate_limit_exceeded" } };
    const failure = sdkError("AI_TypeValidationError", {
      message: "Type validation failed",
      value,
    });
    expect(classifyError(failure, { model: "m" })).toMatchObject({
      kind: "rate_limit",
      retryable: true,
    });
  });

  test("the name of a field is no quotation", () => {
    const message = "Invalid type for 'input': expected a string, but got an \"array\" instead.";
    const error = classifyError(answered(400, { error: { message } }), { model: "m" });
    expect(error).toMatchObject(invalid);
    const apiError = Object.assign(answered(400, { error: { message } }), { message });
    expect(classifyError(apiError, { model: "m" }).cause).toMatchObject({ message });
  });

  test("settings about safety are no content that was refused", () => {
    const body = {
      error: { message: "Invalid value at 'safety_settings[0].category'", code: 400 },
    };
    expect(classifyError(answered(400, body), { model: "m" })).toMatchObject(invalid);
  });

  test("a prompt that a router flags is content, not a key", () => {
    const body = {
      error: {
        code: 403,
        message: "anthropic/claude requires moderation. Your input was flagged.",
        metadata: { reasons: ["violence"], flagged_input: quoted },
      },
    };
    expect(classifyError(answered(403, body), { model: "m" })).toMatchObject({ kind: "content" });
  });
});

test("a key that makes a broken header is not shown", async () => {
  for (const provider of providers.filter(({ api }) => api !== "google")) {
    await using run = await running(provider, []);
    const model = fromAiSdk(provider.create(run.server.url), {
      headers: { authorization: "Bearer sk-very-secret\nkey" },
    });
    const error = await failureOf(chunksOf(model, request({ messages: [userMessage("Hi.")] })));
    expect(ModelError.is(error)).toBe(true);
    expect(inspect(error, { depth: 9 }), provider.name).not.toContain("sk-very-secret");
  }
});
