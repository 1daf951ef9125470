import { ReActAgent } from "@holdfast/core";
import { otel } from "@holdfast/otel";
import { subagents } from "@holdfast/subagents";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Observatory } from "./span-tree.js";

test("a subagent's call is a span of its own name inside the tool call that waits for it", async () => {
  const observatory = new Observatory();
  const { tracerProvider, meterProvider } = observatory;
  const spawn = { name: "agent_spawn", input: { agent: "finder", task: "Find it." } };
  const agent = new ReActAgent({
    name: "lead",
    model: scriptedModel([{ toolCalls: [spawn] }, "Found.", "Thank you."]),
    plugins: [
      otel({ tracerProvider, meterProvider }),
      subagents({ agents: [{ name: "finder", description: "Finds." }] }),
    ],
  });
  await agent.call("Have it found.", { userId: "ann", sessionId: "s" });
  const [top] = observatory.named("invoke_agent lead");
  expect(top && observatory.tree(top)).toBe(
    `invoke_agent lead
  holdfast.state.load
  chat scripted
  execute_tool agent_spawn
    invoke_agent finder
      holdfast.state.load
      chat scripted
      holdfast.state.save
  chat scripted
  holdfast.state.save`,
  );
  const [child] = observatory.named("invoke_agent finder");
  expect(child?.attributes).toMatchObject({
    "gen_ai.agent.id": "lead/finder",
    "gen_ai.agent.name": "finder",
  });
  expect(top?.attributes).toMatchObject({ "gen_ai.agent.id": "lead" });
  await agent.close();
});
