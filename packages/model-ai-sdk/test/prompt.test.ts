import { assistantMessage, type Block, toolResultMessage, userMessage } from "@holdfast/core";
import { createMessage } from "@holdfast/core/plugin-kit";
import { describe, expect, test } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { providers, running } from "./providers.js";
import { type Recorded, recordingModel } from "./recording-model.js";
import { chunksOf, request, weather } from "./requests.js";
import { called, prompt, result, sent } from "./sent.js";

describe("turns", () => {
  test("hints are user text, and blank text is left out", async () => {
    const blocks: Block[] = [
      { type: "text", text: " \n" },
      { type: "hint", text: "It is Monday.", source: "clock" },
      { type: "text", text: "Hi." },
    ];
    expect(await prompt([userMessage(blocks)])).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "It is Monday." },
          { type: "text", text: "Hi." },
        ],
      },
    ]);
  });

  test("a blank system prompt is not sent", async () => {
    const sdkModel = recordingModel();
    await chunksOf(fromAiSdk(sdkModel), request({ system: " " }));
    expect(sdkModel.calls[0].prompt).toMatchObject([{ role: "user" }]);
  });

  test("system messages inside a conversation are user text: some providers take them nowhere else", async () => {
    const messages = [userMessage("Hi."), createMessage("system", "The user is a child.")];
    expect(await prompt(messages)).toMatchObject([{ role: "user" }, { role: "user" }]);
  });

  test("a conversation that begins with the model gets a user before it, one that ends so a user behind", async () => {
    const roles = (await prompt([assistantMessage("Hello.")])).map((turn: Recorded) => turn.role);
    expect(roles).toEqual(["user", "assistant", "user"]);
  });

  test("replies in a row are one, and so are the results of a reply", async () => {
    const messages = [
      userMessage("Hi."),
      assistantMessage("Let me"),
      assistantMessage([called({ id: "own" }), called({ id: "two" })]),
      result([{ type: "text", text: "sunny" }]),
      toolResultMessage({
        type: "tool_result",
        toolCallId: "two",
        name: "weather",
        output: [],
        state: "success",
      }),
    ];
    expect(await prompt(messages)).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [{ type: "text" }, { type: "tool-call" }, { type: "tool-call" }],
      },
      {
        role: "tool",
        content: [
          { toolCallId: "own", output: { type: "text", value: "sunny" } },
          { toolCallId: "two", output: { type: "text", value: "(no output)" } },
        ],
      },
    ]);
  });

  test("a reply of nothing but foreign thinking is left out", async () => {
    const thinking: Block = { type: "thinking", text: "Hm.", providerMetadata: { other: {} } };
    const messages = [userMessage("Hi."), assistantMessage([thinking]), userMessage("Well?")];
    expect(await prompt(messages)).toMatchObject([{ role: "user" }, { role: "user" }]);
  });
});

describe("tool calls", () => {
  test("an input that is no object is wrapped in one, and a strange name made plain", async () => {
    const call = called({ name: "functions.read file", input: "{broken" });
    const [, turn, results] = await prompt([
      userMessage("Hi."),
      assistantMessage([call]),
      toolResultMessage({
        type: "tool_result",
        toolCallId: "own",
        name: "functions.read file",
        output: [{ type: "text", text: "There is no such tool." }],
        state: "error",
      }),
    ]);
    expect(turn.content[0]).toMatchObject({
      toolName: "functions_read_file",
      input: { input: "{broken" },
    });
    expect(results.content[0]).toMatchObject({ toolName: "functions_read_file" });
  });

  test("Mistral gets ids of nine letters and digits", async () => {
    const messages = [
      userMessage("Hi."),
      assistantMessage([called(), called({ id: "two" })], {
        metadata: { providerCallIds: { own: "D681PevKs", two: "toolu_01" } },
      }),
      result([]),
      toolResultMessage({
        type: "tool_result",
        toolCallId: "two",
        name: "weather",
        output: [],
        state: "success",
      }),
    ];
    const [, turn] = await prompt(messages, { provider: "mistral.chat" });
    const ids = turn.content.map((part: Recorded) => part.toolCallId);
    expect(ids).toEqual(["D681PevKs", "call00001"]);
  });

  test("results stand in the order of their calls: Vertex sends no ids to tell them by", async () => {
    const messages = [
      userMessage("Hi."),
      assistantMessage([called({ id: "one" }), called({ id: "two" }), called({ id: "three" })]),
      ...["two", "three", "one"].map((callId) =>
        toolResultMessage({
          type: "tool_result",
          toolCallId: callId,
          name: "weather",
          output: [{ type: "text", text: callId }],
          state: "success",
        }),
      ),
    ];
    const [, , results] = await prompt(messages);
    const values = results.content.map((part: Recorded) => part.output.value);
    expect(values).toEqual(["one", "two", "three"]);
  });

  test.each([
    ["error", "v2", { type: "error-text", value: "no" }],
    ["error", "v3", { type: "error-text", value: "no" }],
    ["interrupted", "v4", { type: "error-text", value: "no" }],
    ["denied", "v2", { type: "error-text", value: "no" }],
    ["denied", "v3", { type: "execution-denied", reason: "no" }],
    ["denied", "v4", { type: "execution-denied", reason: "no" }],
  ] as const)("a result that is %s, in %s", async (state, version, output) => {
    const messages = [
      userMessage("Hi."),
      assistantMessage([called()]),
      result([{ type: "text", text: "no" }], state),
    ];
    const [, , results] = await prompt(messages, { version });
    expect(results.content[0].output).toEqual(output);
  });

  test("a result that is denied is an error to Anthropic, in every generation", async () => {
    const messages = [
      userMessage("Hi."),
      assistantMessage([called()]),
      result([{ type: "text", text: "no" }], "denied"),
    ];
    for (const provider of providers.filter(({ api }) => api === "anthropic")) {
      await using run = await running(provider, [{ text: "As you wish." }]);
      await chunksOf(run.model, request({ messages, tools: [weather] }));
      const [block] = run.server.requests[0]?.body.messages[2].content ?? [];
      expect(block, provider.name).toMatchObject({ type: "tool_result", is_error: true });
      expect(JSON.stringify(block.content)).toContain("no");
    }
  });

  test("Anthropic is told of tools that only the history has", async () => {
    const messages = [
      userMessage("Hi."),
      assistantMessage([called()]),
      result([{ type: "text", text: "sunny" }]),
    ];
    const anthropic = { provider: "anthropic.messages" };
    expect(await sent(messages, anthropic, {}, [])).toMatchObject({
      tools: [{ name: "weather" }],
      toolChoice: { type: "none" },
    });
    // The package of V2 would take the tools away again.
    expect(await sent(messages, { ...anthropic, version: "v2" }, {}, [])).toMatchObject({
      tools: [{ name: "weather" }],
      toolChoice: { type: "auto" },
    });
    expect(await sent(messages, { provider: "openai.chat" }, {}, [])).not.toHaveProperty("tools");
  });

  test.each([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    [{ tool: "weather" }, { type: "tool", toolName: "weather" }],
  ] as const)("the choice %o", async (toolChoice, expected) => {
    const sdkModel = recordingModel();
    await chunksOf(fromAiSdk(sdkModel), request({ tools: [weather], toolChoice }));
    expect(sdkModel.calls[0].toolChoice).toEqual(expected);
  });
});
