import { ConfigurationError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { modelDescription, otel, type SpanInfo } from "../src/index.js";
import { TelemetryLab, toolNamed } from "./telemetry-lab.js";

test("wrong options are refused by name", () => {
  for (const [options, name] of [
    [{ content: "yes" }, "content"],
    [{ maxContentChars: 3 }, "maxContentChars"],
    [{ recordIds: { team: true } }, "recordIds"],
    [{ attributes: {} }, "attributes"],
    [{ describeModel: "x" }, "describeModel"],
    [{ tracerProvider: {} }, "tracerProvider"],
    [{ meterProvider: null }, "meterProvider"],
    [{ tracing: true }, "tracing"],
  ] as const) {
    const make = () => otel(options as never);
    expect(make, name).toThrow(ConfigurationError);
    expect(make).toThrow(name);
  }
});

test("attributes of one's own know what the span is of, and win", async () => {
  const lab = new TelemetryLab();
  const seen: SpanInfo[] = [];
  const agent = lab.agent(
    {
      model: scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "Seen."], { id: "x/m" }),
      tools: [toolNamed("look", () => "a door")],
    },
    {
      attributes: (info) => {
        seen.push(info);
        const tenant = info.ctx?.extra["tenant"];
        return { tenant: String(tenant), "gen_ai.agent.name": "renamed" };
      },
    },
  );
  await agent.call("Look.", { sessionId: "s", extra: { tenant: "acme" } });
  expect(
    seen.map(({ subject, model, purpose, tool }) => [subject, model ?? tool, purpose]),
  ).toEqual([
    ["call", undefined, undefined],
    ["state_load", undefined, undefined],
    ["model_call", "x/m", "reasoning"],
    ["tool_call", "look", undefined],
    ["model_call", "x/m", "reasoning"],
    ["state_save", undefined, undefined],
  ]);
  for (const span of lab.spans)
    expect(span.attributes).toMatchObject({ tenant: "acme", "gen_ai.agent.name": "renamed" });
});

test("functions that throw do not fail the call they watch", async () => {
  const lab = new TelemetryLab();
  const broken = () => {
    throw new Error("broken");
  };
  const agent = lab.agent(
    { model: scriptedModel(["Hi."], { id: "x/m" }) },
    { attributes: broken, describeModel: broken },
  );
  expect((await agent.call("Hi", { sessionId: "s" })).text).toBe("Hi.");
  expect(lab.span("chat m").attributes["gen_ai.provider.name"]).toBe("x");
});

test("a model can be described by its id", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent(
    { model: scriptedModel(["Hi."], { id: "deployment-7" }) },
    { describeModel: () => ({ provider: "azure.ai.openai" }) },
  );
  await agent.call("Hi", { sessionId: "s" });
  expect(lab.span("chat deployment-7").attributes).toMatchObject({
    "gen_ai.provider.name": "azure.ai.openai",
    "gen_ai.request.model": "deployment-7",
  });
});

test.each([
  ["openai.responses/gpt-5", "openai", "gpt-5"],
  ["anthropic.messages/claude-9", "anthropic", "claude-9"],
  ["google.generative-ai/gemini-3", "gcp.gemini", "gemini-3"],
  ["google.vertex.chat/gemini-3", "gcp.vertex_ai", "gemini-3"],
  ["amazon-bedrock/us.x:0", "aws.bedrock", "us.x:0"],
  ["xai.chat/grok", "x_ai", "grok"],
  ["mistral.chat/large", "mistral_ai", "large"],
  ["openrouter/meta/llama", "openrouter", "meta/llama"],
  ["scripted", "unknown", "scripted"],
  ["/x", "unknown", "/x"],
  ["x/", "unknown", "x/"],
])("the model id %s is %s's %s", (id, provider, name) => {
  expect(modelDescription(id)).toEqual({ provider, name });
});
