import {
  assistantMessage,
  type CallInput,
  InvalidInputError,
  ReActAgent,
  textOf,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { pairedModel, stateProblem } from "./valid-pairing.js";

describe("a call takes", () => {
  test("text, a message, or several", async () => {
    const model = pairedModel(() => "ok");
    const agent = new ReActAgent({ name: "a", model });
    await agent.call("one");
    await agent.call(userMessage("two"));
    await agent.call([userMessage("three"), assistantMessage("hm"), userMessage("four")]);
    expect(model.requests[2]?.messages.map(textOf)).toEqual([
      ...["one", "ok", "two", "ok"],
      ...["three", "hm", "four"],
    ]);
  });

  test("the same message twice: each stands in the context under its own id", async () => {
    const agent = new ReActAgent({ name: "a", model: pairedModel(() => "ok") });
    const message = userMessage("hello");
    await agent.call(message);
    await agent.call([message, message]);
    const state = await agent.getAgentState();
    expect(state?.context.map(textOf)).toEqual(["hello", "ok", "hello", "hello", "ok"]);
    expect(state && stateProblem(state)).toBeNull();
  });
});

describe("a call refuses, before anything happens,", () => {
  const call = { type: "tool_call", id: "1", name: "t", input: {} } as const;
  const result = {
    type: "tool_result",
    toolCallId: "1",
    name: "t",
    output: [],
    state: "success",
  } as const;
  test.each<[string, unknown]>([
    ["a system message", { ...userMessage("x"), role: "system" }],
    ["a tool message", toolResultMessage(result)],
    ["an assistant message with tool calls, which nobody could answer", assistantMessage([call])],
    ["a user message with tool results", userMessage([result])],
    ["something that is no message", { role: "user", content: "x" }],
    ["a number", 5],
    ["null", null],
    ["nothing", undefined],
    ["confirmations of nothing", { confirm: [] }],
    ["confirmations without ids", { confirm: [{ approve: true }] }],
    ["confirmations that neither approve nor deny", { confirm: [{ callId: "1", approved: true }] }],
    ["results that are no list", { results: "x" }],
    [
      "one call confirmed twice",
      {
        confirm: [
          { toolCallId: "1", approve: true },
          { toolCallId: "1", approve: false },
        ],
      },
    ],
  ])("%s", async (_, input) => {
    const model = pairedModel(() => "ok");
    const agent = new ReActAgent({ name: "a", model });
    await expect(agent.call(input as CallInput)).rejects.toSatisfy(InvalidInputError.is);
    expect(() => agent.stream(input as CallInput)).toThrow(InvalidInputError);
    expect(model.requests).toEqual([]);
    expect(await agent.getAgentState()).toBeNull();
  });
});
