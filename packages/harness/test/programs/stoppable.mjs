// node stoppable.mjs <workspace> <text>: an agent with signal handlers and a tool that ends when a line comes in.
// Prints one word per line: "started" when the tool runs, "draining" when a signal came, then the reply as JSON.
import { once } from "node:events";
import { createInterface } from "node:readline";
import { tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";

const [workspace, text] = process.argv.slice(2);
const input = createInterface({ input: process.stdin });
const slow = tool({
  name: "slow",
  description: "Ends when a line comes in.",
  input: z.object({}),
  async execute() {
    const line = once(input, "line");
    console.log("started");
    const [result] = await line;
    return result;
  },
});
const model = scriptedModel((request) =>
  request.messages.some(({ role }) => role === "tool")
    ? "finished"
    : { toolCalls: [{ name: "slow", input: {} }] },
);
const agent = HarnessAgent.builder()
  .name("stoppable")
  .model(model)
  .workspace(workspace)
  .tools(slow)
  .signalHandlers(true)
  .build();
// Says that the signal has arrived, and is gone before the agent's own handler looks for others.
process.once("SIGTERM", () => console.log("draining"));
const reply = await agent.call(text, { userId: "alice", sessionId: "s-1" });
console.log(JSON.stringify({ reason: reply.reason, text: reply.text, requests: model.requests }));
await agent.close();
input.close();
