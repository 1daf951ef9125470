import { type AgentReply, ReActAgent, toolResultsOf } from "@holdfast/core";
import { sessionTools } from "@holdfast/session-tools";
import { subagents } from "@holdfast/subagents";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";

test("a subagent's session tools read its own session, and by name that of the agent it works for", async () => {
  const model = scriptedModel([
    { toolCalls: [{ name: "session_history", input: {} }] },
    { toolCalls: [{ name: "session_history", input: { agentId: "lead", sessionId: "s" } }] },
    "read",
  ]);
  const spawn = { name: "agent_spawn", input: { agent: "reader", task: "Read what was said." } };
  const agent = new ReActAgent({
    ...{ name: "lead", persistence: "step" },
    model: scriptedModel([{ toolCalls: [spawn] }, "done"]),
    plugins: [
      sessionTools(),
      subagents({ agents: [{ name: "reader", description: "Reads.", model }] }),
    ],
  });
  const reply: AgentReply = await agent.call("A word for the lead.", {
    userId: "ann",
    sessionId: "s",
  });
  expect(reply.text).toBe("done");
  const results = (model.requests.at(-1)?.messages ?? [])
    .flatMap(toolResultsOf)
    .map(({ output }) => JSON.stringify(output));
  expect(results[0]).toContain("Read what was said.");
  expect(results[1]).toContain("A word for the lead.");
  await agent.close();
});
