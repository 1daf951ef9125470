import { InMemoryOffloader, ReActAgent, tool, toolResultsOf } from "@holdfast/core";
import { evictionOf, toolResultEviction } from "@holdfast/eviction";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";

test("a result that comes from outside is evicted like any other", async () => {
  const ask = tool({ name: "ask_office", description: "Asks.", input: z.object({}) });
  const agent = new ReActAgent({
    name: "agent",
    model: scriptedModel([{ toolCalls: [{ name: "ask_office", input: {} }] }, "Done."]),
    tools: [ask],
    offloader: new InMemoryOffloader(),
    plugins: [toolResultEviction()],
  });
  const reply = await agent.call("Go.");
  if (reply.reason !== "tool_suspended") throw new Error(`ended with ${reply.reason}`);
  const callId = reply.pending[0]?.toolCallId ?? "";
  await agent.call({ results: [{ toolCallId: callId, output: "z".repeat(100_000) }] });
  const state = await agent.getAgentState();
  const [result] = state?.context.flatMap(toolResultsOf) ?? [];
  expect(result && evictionOf(result)).toMatchObject({ chars: 100_000 });
  expect(state?.toJson().length).toBeLessThan(10_000);
});
