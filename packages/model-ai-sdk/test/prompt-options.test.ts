import { assistantMessage, type Block, toolResultMessage, userMessage } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { type Recorded, recordingModel } from "./recording-model.js";
import { chunksOf, request } from "./requests.js";
import { called, result, sent } from "./sent.js";

describe("prompt cache", () => {
  const summary = userMessage([{ type: "hint", text: "So far…", source: "summary" }]);
  const messages = [
    summary,
    userMessage("Hi."),
    assistantMessage([called()]),
    result([{ type: "text", text: "sunny" }]),
    userMessage([{ type: "hint", text: "3 steps left.", source: "plan" }]),
  ];
  const marked = (all: Recorded) =>
    all.prompt.flatMap((turn: Recorded, index: number) => (turn.providerOptions ? [index] : []));

  test("Anthropic gets breakpoints after system prompt, summary, last request and last lasting message", async () => {
    const all = await sent(messages, { provider: "anthropic.messages" });
    expect(marked(all)).toEqual([0, 1, 2, 4]);
    expect(all.prompt[0].providerOptions).toEqual({
      anthropic: { cacheControl: { type: "ephemeral" } },
    });
  });

  test("Bedrock gets them in its own form", async () => {
    const all = await sent(messages, { provider: "amazon-bedrock" });
    expect(all.prompt[4].providerOptions).toEqual({ bedrock: { cachePoint: { type: "default" } } });
  });

  test("nobody else gets any, nor Anthropic when it is off", async () => {
    for (const provider of ["openai.responses", "google.generative-ai", "xai.chat"])
      expect(marked(await sent(messages, { provider }))).toEqual([]);
    const off = await sent(messages, { provider: "anthropic.messages" }, { promptCache: "off" });
    expect(marked(off)).toEqual([]);
  });

  test("there are never more than four", async () => {
    const long = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? userMessage(`${index}`) : assistantMessage(`${index}`),
    );
    const all = await sent([summary, ...long], { provider: "anthropic.messages" });
    expect(marked(all).length).toBeLessThanOrEqual(4);
  });
});

describe("thinking at Anthropic", () => {
  const thinking = { type: "enabled", budgetTokens: 2_000 };
  const options = { providerOptions: { anthropic: { thinking } } };
  const model = { provider: "anthropic.messages", modelId: "m" };
  const signed: Block = {
    type: "thinking",
    text: "Hm.",
    providerMetadata: { "anthropic.messages/m": { anthropic: { signature: "s" } } },
  };

  test("is off for a turn whose calls another model made without it", async () => {
    const messages = [userMessage("Hi."), assistantMessage([called()]), result([])];
    expect(await sent(messages, model, options)).toMatchObject({
      providerOptions: { anthropic: { thinking: { type: "disabled" } } },
    });
    const next = [...messages, assistantMessage("Sunny."), userMessage("And Oslo?")];
    expect(await sent(next, model, options)).toMatchObject(options);
  });

  test("stays on for a turn it began with", async () => {
    const messages = [userMessage("Hi."), assistantMessage([signed, called()]), result([])];
    expect(await sent(messages, model, options)).toMatchObject(options);
  });

  test("stays on while the turn goes on: later steps of it need not begin with thinking", async () => {
    const second = called({ id: "two" });
    const messages = [
      userMessage("Hi."),
      assistantMessage([signed, called()]),
      result([]),
      assistantMessage([second]),
      toolResultMessage({
        type: "tool_result",
        toolCallId: "two",
        name: "weather",
        output: [],
        state: "success",
      }),
    ];
    expect(await sent(messages, model, options)).toMatchObject(options);
  });

  test("by the setting of V4 as well", async () => {
    const messages = [userMessage("Hi."), assistantMessage([called()]), result([])];
    const settings = { reasoning: "high" } as const;
    const all = await sent(messages, { ...model, version: "v4" }, { settings });
    expect(all.reasoning).toBe("none");
    expect(await sent(messages, { ...model, version: "v3" }, { settings })).not.toHaveProperty(
      "reasoning",
    );
  });
});

test("responses are asked not to be stored in the namespace of the package", async () => {
  const options = { providerOptions: { xai: { reasoningEffort: "low" } } };
  expect(await sent([], { provider: "xai.responses" }, options)).toMatchObject({
    providerOptions: { xai: { store: false, reasoningEffort: "low" } },
  });
  const azure = { providerOptions: { openai: { user: "u" } } };
  expect(await sent([], { provider: "azure.responses" }, azure)).toMatchObject({
    providerOptions: { openai: { store: false, user: "u" }, azure: { store: false, user: "u" } },
  });
  expect(await sent([], { provider: "xai.chat" })).toMatchObject({ providerOptions: {} });
});

test("a schema for the reply goes to the provider as one", async () => {
  const sdkModel = recordingModel();
  const model = fromAiSdk(sdkModel, { structuredOutput: true });
  const output = { type: "object", properties: {} };
  await chunksOf(model, request({ output }));
  expect(model.structuredOutput).toBe(true);
  expect(sdkModel.calls[0].responseFormat).toMatchObject({ type: "json", schema: output });
});
