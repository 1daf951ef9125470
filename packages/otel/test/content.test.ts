import type { Message } from "@holdfast/core";
import { createMessage, isWellFormed } from "@holdfast/core/plugin-kit";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clip, clippedJson } from "../src/content/clip.js";
import { messagesJson } from "../src/content/messages-json.js";
import { TelemetryLab, toolNamed } from "./telemetry-lab.js";

test("with content, spans carry what was said in the form of the conventions", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent(
    {
      systemPrompt: "Be brief.",
      model: scriptedModel([
        { toolCalls: [{ name: "look", input: { text: "north" }, id: "c1" }] },
        { thinking: "A door.", text: "There is a door." },
      ]),
      tools: [toolNamed("look", () => "a door")],
    },
    { content: true },
  );
  await agent.call("Look north.", { sessionId: "s" });
  const call = lab.span("invoke_agent helper").attributes;
  expect(parsed(call["gen_ai.input.messages"])).toEqual([
    { role: "user", parts: [{ type: "text", content: "Look north." }] },
  ]);
  expect(parsed(call["gen_ai.output.messages"])).toEqual([
    {
      role: "assistant",
      parts: [
        { type: "reasoning", content: "A door." },
        { type: "text", content: "There is a door." },
      ],
    },
  ]);
  const [, chat] = lab.spans.filter(({ name }) => name === "chat scripted");
  expect(parsed(chat?.attributes["gen_ai.system_instructions"])).toEqual([
    { type: "text", content: expect.stringContaining("Be brief.") },
  ]);
  expect(parsed(chat?.attributes["gen_ai.tool.definitions"])).toEqual([
    { type: "function", name: "look", description: "Does look." },
  ]);
  const id = lab.span("execute_tool look").attributes["gen_ai.tool.call.id"];
  expect(parsed(chat?.attributes["gen_ai.input.messages"])).toEqual([
    { role: "user", parts: [{ type: "text", content: "Look north." }] },
    {
      role: "assistant",
      parts: [{ type: "tool_call", id, name: "look", arguments: { text: "north" } }],
    },
    {
      role: "tool",
      parts: [{ type: "tool_call_response", id, response: [{ type: "text", content: "a door" }] }],
    },
  ]);
  expect(parsed(chat?.attributes["gen_ai.output.messages"])).toEqual([
    {
      role: "assistant",
      parts: [
        { type: "reasoning", content: "A door." },
        { type: "text", content: "There is a door." },
      ],
      finish_reason: "stop",
    },
  ]);
  const executed = lab.span("execute_tool look").attributes;
  expect(parsed(executed["gen_ai.tool.call.arguments"])).toEqual({ text: "north" });
  expect(parsed(executed["gen_ai.tool.call.result"])).toEqual([
    { type: "text", content: "a door" },
  ]);
});

test("what a hook behind the plugin changes in a request is what the span shows", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent(
    {
      model: scriptedModel(["Hi."]),
      plugins: [
        {
          name: "rewriting",
          contract: 1,
          setup: (host) =>
            host.use({
              name: "rewriting",
              onModelCall(step, next) {
                step.request = { ...step.request, system: "rewritten" };
                return next();
              },
            }),
        },
      ],
    },
    { content: true },
  );
  await agent.call("Hello", { sessionId: "s" });
  expect(lab.span("chat scripted").attributes["gen_ai.system_instructions"]).toContain("rewritten");
});

test("a model call that is stopped before its first chunk shows what it was sent", async () => {
  const lab = new TelemetryLab();
  const agent = lab.agent(
    { model: scriptedModel([{ text: "Never.", delayMs: 60_000 }]) },
    { content: true },
  );
  const run = agent.stream("Look north.", { sessionId: "s" });
  // The request is made after the event.
  for await (const event of run)
    if (event.type === "model_call_start")
      setImmediate(() => void agent.interrupt({ sessionId: "s" }));
  await run.result;
  expect(lab.span("chat scripted").attributes["gen_ai.input.messages"]).toContain("Look north.");
});

test.each([
  ["words", '€uro "quoted" \\ 😀'],
  ["what JSON has to escape", '"\u0001'],
])("no attribute with contents is longer than allowed, and all are JSON: %s", async (_, piece) => {
  const text = piece.repeat(2_000);
  const lab = new TelemetryLab();
  const agent = lab.agent(
    {
      systemPrompt: text,
      model: scriptedModel([
        { toolCalls: [{ name: "look", input: { text }, id: "c1" }] },
        { text, thinking: text },
      ]),
      tools: [toolNamed("look", () => text)],
    },
    { content: true, maxContentChars: 1_000 },
  );
  await agent.call(text, { sessionId: "s" });
  const contents = lab.spans
    .flatMap(({ attributes }) => Object.entries(attributes))
    .filter(([name]) => /messages$|instructions|definitions|arguments|result/.test(name))
    .filter(([, value]) => typeof value === "string");
  expect(contents.length).toBeGreaterThan(8);
  for (const [name, value] of contents) {
    expect(String(value).length, name).toBeLessThanOrEqual(1_000);
    expect(() => parsed(value), name).not.toThrow();
  }
});

test("any messages fit into any limit as JSON, the newest first to stay", () => {
  const message = fc
    .array(fc.string({ unit: "grapheme", maxLength: 400 }), { minLength: 1, maxLength: 4 })
    .map(
      (texts): Message =>
        createMessage(
          "user",
          texts.map((text) => ({ type: "text", text })),
        ),
    );
  fc.assert(
    fc.property(
      fc.array(message, { maxLength: 6 }),
      fc.integer({ min: 256, max: 3_000 }),
      (messages, max) => {
        const json = messagesJson(messages, max);
        expect(json.length).toBeLessThanOrEqual(max);
        const shown = JSON.parse(json) as unknown[];
        expect(shown.length > 0).toBe(messages.length > 0);
        expect(JSON.parse(clippedJson(messages, max))).toBeDefined();
        expect(clippedJson(messages, max).length).toBeLessThanOrEqual(max);
      },
    ),
  );
});

test("a clipped text says how long it was and does not end in half a character", () => {
  expect(clip("abc", 10)).toBe("abc");
  expect(clip("😀".repeat(50), 30)).toBe(`${"😀".repeat(6)}… [100 characters]`);
  for (let max = 20; max < 60; max++) expect(isWellFormed(clip("😀".repeat(50), max))).toBe(true);
});

function parsed(value: unknown): unknown {
  return JSON.parse(String(value));
}
