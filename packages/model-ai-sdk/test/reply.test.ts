import type { ModelChunk } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { finishPart, recordingModel } from "./recording-model.js";
import { chunksOf, failureOf, request } from "./requests.js";

type Version = "v2" | "v3" | "v4";

/** The chunks of a reply of these stream parts. */
function chunks(
  parts: readonly unknown[],
  { version = "v3" as Version, provider = "test.chat", finish = finishPart("stop", version) } = {},
): Promise<ModelChunk[]> {
  const reply = () => [...parts, finish];
  return chunksOf(fromAiSdk(recordingModel({ version, provider, reply })), request());
}

const owner = "test.chat/m";

test("text and thinking that come in turns keep their blocks, and their metadata", async () => {
  const got = await chunks([
    { type: "reasoning-start", id: "r", providerMetadata: { x: { itemId: "rs_1" } } },
    { type: "text-start", id: "t" },
    { type: "reasoning-delta", id: "r", delta: "Hm." },
    { type: "text-delta", id: "t", delta: "Hi." },
    { type: "reasoning-end", id: "r", providerMetadata: { x: { seal: "s" } } },
    { type: "text-end", id: "t", providerMetadata: { x: { phase: "final" } } },
  ]);
  expect(got.slice(0, -1)).toEqual([
    {
      type: "thinking_delta",
      text: "",
      block: "r",
      providerMetadata: { [owner]: { x: { itemId: "rs_1" } } },
    },
    { type: "thinking_delta", text: "Hm.", block: "r" },
    { type: "text_delta", text: "Hi.", block: "t" },
    {
      type: "thinking_delta",
      text: "",
      block: "r",
      providerMetadata: { [owner]: { x: { itemId: "rs_1", seal: "s" } } },
    },
    {
      type: "text_delta",
      text: "",
      block: "t",
      providerMetadata: { [owner]: { x: { phase: "final" } } },
    },
  ]);
});

test("thinking is marked as this model's even when it has no metadata", async () => {
  const [first] = await chunks([
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "Hm." },
  ]);
  expect(first).toMatchObject({ type: "thinking_delta", providerMetadata: { [owner]: {} } });
});

describe("tool calls", () => {
  const call = (input: string, fields: object = {}) => ({
    type: "tool-call",
    toolCallId: "c",
    toolName: "weather",
    input,
    ...fields,
  });

  test("are told as they are written", async () => {
    const got = await chunks([
      { type: "tool-input-start", id: "c", toolName: "weather" },
      { type: "tool-input-delta", id: "c", delta: '{"ci' },
      { type: "tool-input-delta", id: "c", delta: 'ty":1}' },
      { type: "tool-input-end", id: "c" },
      call('{"city":1}'),
    ]);
    expect(got).toMatchObject([
      { type: "tool_call_delta", id: "c", name: "weather", inputDelta: '{"ci' },
      { type: "tool_call_delta", id: "c", name: "weather", inputDelta: 'ty":1}' },
      { type: "tool_call", id: "c", name: "weather", input: { city: 1 } },
      { type: "finish", reason: "tool_calls" },
    ]);
  });

  test.each([
    ["", {}],
    ["{broken", "{broken"],
    ["[".repeat(300) + "]".repeat(300), "[".repeat(300) + "]".repeat(300)],
  ])("with the input %s", async (input, expected) => {
    expect(await chunks([call(input)])).toMatchObject([{ input: expected }, { type: "finish" }]);
  });

  test("with one id twice get two", async () => {
    const got = await chunks([call("{}"), call("{}")]);
    expect(got).toMatchObject([{ id: "c" }, { id: "c_" }, { reason: "tool_calls" }]);
  });

  test("that the provider runs itself are not the agent's", async () => {
    const got = await chunks(
      [
        { type: "tool-input-start", id: "c", toolName: "web_search", providerExecuted: true },
        { type: "tool-input-delta", id: "c", delta: "{}" },
        call("{}", { providerExecuted: true }),
        { type: "tool-result", toolCallId: "c", toolName: "web_search", result: {} },
        { type: "source", sourceType: "url", id: "s", url: "https://x.test" },
        { type: "text-delta", id: "t", delta: "Found." },
      ],
      { finish: finishPart("tool-calls") },
    );
    expect(got).toMatchObject([
      { type: "text_delta", text: "Found." },
      { type: "finish", reason: "stop" },
    ]);
  });
});

test.each([
  ["v2", "aGk=", { kind: "base64", data: "aGk=" }],
  ["v3", new Uint8Array([104, 105]), { kind: "base64", data: "aGk=" }],
  ["v4", { type: "data", data: new Uint8Array([104, 105]) }, { kind: "base64", data: "aGk=" }],
  [
    "v4",
    { type: "url", url: new URL("https://x.test/a.png") },
    { kind: "url", url: "https://x.test/a.png" },
  ],
] as const)("a file of %s is data", async (version, data, source) => {
  const got = await chunks([{ type: "file", mediaType: "image/png", data }], { version });
  expect(got).toMatchObject([{ type: "data", mediaType: "image/png", source }, { reason: "stop" }]);
});

test("parts that nobody knows are passed over", async () => {
  const parts = [null, 7, { type: "ping" }, { type: "custom", kind: "x.y" }, { type: "raw" }];
  const file = { type: "reasoning-file", mediaType: "image/png", data: "aGk=" };
  expect(await chunks([...parts, file], { version: "v4" })).toMatchObject([{ type: "finish" }]);
});

describe("the end of a reply", () => {
  const said = [{ type: "text-delta", id: "t", delta: "Hi." }];

  test.each([
    ["v2", "stop", "stop"],
    ["v2", "length", "length"],
    ["v3", "content-filter", "content_filter"],
    ["v3", "error", "error"],
    ["v4", "other", "stop"],
  ] as const)("%s: %s", async (version, reason, expected) => {
    const got = await chunks(said, { version, finish: finishPart(reason, version) });
    expect(got.at(-1)).toMatchObject({ reason: expected });
  });

  const cut = { code: "MODEL", kind: "connection", retryable: true };

  test("is missing: the reply was cut off", async () => {
    expect(await failureOf(chunks(said, { finish: { type: "ping" } }))).toMatchObject(cut);
  });

  test("is interrupted, as V4 calls it: the reply was cut off", async () => {
    const finish = finishPart("interrupted", "v4");
    expect(await failureOf(chunks(said, { version: "v4", finish }))).toMatchObject(cut);
  });

  test("has no reason: cut off at a provider that always gives one, complete at a server that may not", async () => {
    const finish = {
      type: "finish",
      finishReason: { unified: "other", raw: undefined },
      usage: { inputTokens: { total: 3 }, outputTokens: { total: 2 } },
    };
    const anthropic = chunks(said, { provider: "anthropic.messages", finish });
    expect(await failureOf(anthropic)).toMatchObject(cut);
    expect((await chunks(said, { finish })).at(-1)).toMatchObject({ reason: "stop" });
    const { usage: _, ...bare } = finish;
    expect(await failureOf(chunks(said, { finish: bare }))).toMatchObject(cut);
  });

  test.each([
    [
      "cached and written tokens apart from the input, as Anthropic's of V2",
      "v2",
      { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 600 },
      { anthropic: { cacheCreationInputTokens: 90 } },
      { inputTokens: 700, outputTokens: 5, cachedInputTokens: 600 },
    ],
    [
      "thoughts apart from the output, as Google's of V2",
      "v2",
      { inputTokens: 10, outputTokens: 5, reasoningTokens: 3, totalTokens: 18 },
      undefined,
      { inputTokens: 10, outputTokens: 8 },
    ],
    [
      "thoughts apart from the output beside results of its own tools, as Google's of V2",
      "v2",
      { inputTokens: 10, outputTokens: 5, reasoningTokens: 3, totalTokens: 25 },
      undefined,
      { inputTokens: 10, outputTokens: 8 },
    ],
    [
      "thoughts in the output, as OpenAI's of V2",
      "v2",
      { inputTokens: 10, outputTokens: 5, reasoningTokens: 3, totalTokens: 15 },
      undefined,
      { inputTokens: 10, outputTokens: 5 },
    ],
    [
      "totals and what is in them",
      "v3",
      {
        inputTokens: { total: 10, noCache: 4, cacheRead: 6 },
        outputTokens: { total: 5, reasoning: 3 },
      },
      undefined,
      { inputTokens: 10, outputTokens: 5, cachedInputTokens: 6 },
    ],
    [
      "no totals",
      "v4",
      { inputTokens: { noCache: 4, cacheRead: 6 }, outputTokens: { text: 2, reasoning: 3 } },
      undefined,
      { inputTokens: 10, outputTokens: 5, cachedInputTokens: 6 },
    ],
  ] as const)("counts %s", async (_, version, counts, providerMetadata, usage) => {
    const finishReason = version === "v2" ? "stop" : { unified: "stop", raw: "stop" };
    const finish = { type: "finish", finishReason, usage: counts, providerMetadata };
    expect((await chunks(said, { version, finish })).at(-1)).toEqual({
      type: "finish",
      reason: "stop",
      usage,
    });
  });

  test("has no usage to speak of: zeros, never NaN", async () => {
    const finish = { type: "finish", finishReason: "stop", usage: { inputTokens: Number.NaN } };
    expect((await chunks(said, { version: "v2", finish })).at(-1)).toEqual({
      type: "finish",
      reason: "stop",
      usage: { inputTokens: 0, outputTokens: 0 },
    });
  });
});
