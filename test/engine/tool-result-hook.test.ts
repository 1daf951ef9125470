import {
  InMemoryAgentStateStore,
  type Message,
  type Middleware,
  ReActAgent,
  type ToolResultBlock,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";

const slot = { agentId: "a", userId: null, sessionId: "default" };
const look = tool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  execute: () => "seen",
});
const outside = tool({ name: "outside", description: "Runs elsewhere.", input: z.object({}) });

/** Adds a letter to every result. */
function signing(name: string, seen: string[] = []): Middleware {
  return {
    name,
    onToolResult(result, { call, tool: { name: toolName } }) {
      seen.push(`${toolName} ${call.id === result.toolCallId}`);
      return withText(result, `${textIn(result)}${name}`);
    },
  };
}

const textIn = ({ output }: ToolResultBlock): string =>
  output.map((part) => (part.type === "text" ? part.text : "")).join("");
const withText = (result: ToolResultBlock, text: string): ToolResultBlock => ({
  ...result,
  output: [{ type: "text", text }],
});
const results = (messages: readonly Message[]): string[] =>
  messages.flatMap(toolResultsOf).map(textIn);

describe("onToolResult", () => {
  test("is a pipeline over what a tool returned, behind the hooks around it; the log has the original", async () => {
    const around: Middleware = {
      name: "around",
      onToolCall: async (_, next) => withText(await next(), "changed "),
    };
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel([{ toolCalls: [{ name: "look", input: {} }] }, "done"]),
      tools: [look],
      middleware: [around, signing("x"), signing("y")],
    });
    await agent.call("go");
    const state = await agent.getAgentState();
    expect(results(state?.context ?? [])).toEqual(["changed xy"]);
  });

  test("sees a result that comes from outside, and the log has the original", async () => {
    const seen: string[] = [];
    const stateStore = new InMemoryAgentStateStore();
    const agent = new ReActAgent({
      name: "a",
      stateStore,
      model: scriptedModel([{ toolCalls: [{ name: "outside", input: {} }] }, "done"]),
      tools: [outside],
      middleware: [signing("x", seen)],
    });
    const reply = await agent.call("go");
    if (reply.reason !== "tool_suspended") throw new Error(`ended with ${reply.reason}`);
    expect(seen).toEqual([]);
    await agent.call({
      results: [{ toolCallId: reply.pending[0]?.toolCallId ?? "", output: "answer " }],
    });
    expect(seen).toEqual(["outside true"]);
    const state = await agent.getAgentState();
    expect(results(state?.context ?? [])).toEqual(["answer x"]);
    const records = await stateStore.companions().log.read(slot);
    expect(results(records.flatMap(({ message }) => message ?? []))).toEqual(["answer "]);
  });
});
