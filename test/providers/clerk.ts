import { compaction } from "@holdfast/compaction";
import { type AgentEvent, type Model, tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { z } from "zod";

/** The one agent of these tests: whatever the provider, only its model differs. */
export type Clerk = (model: Model) => HarnessAgent;

/** Defines the agent over files in a directory. */
export function clerkIn(directory: string, onEvent?: (event: AgentEvent) => void): Clerk {
  return (model) =>
    HarnessAgent.create({
      name: "clerk",
      model,
      systemPrompt: "You look up orders.",
      tools: [lookUp, askAPerson],
      stateStore: new JsonFileAgentStateStore({ root: `${directory}/state`, durability: "os" }),
      workspace: `${directory}/workspace`,
      plugins: [compaction({ triggerMessages: 0, keepMessages: 2 })],
      modelRetry: { baseDelayMs: 0 },
      onEvent,
    });
}

const lookUp = tool({
  name: "look_up",
  description: "Finds an order by its number.",
  input: z.object({ number: z.int(), fields: z.array(z.string()).optional() }),
  readOnly: true,
  execute: ({ number }) => `order ${number}: shipped`,
});

/** Has no `execute`: its answer comes from outside, later. */
const askAPerson = tool({
  name: "ask_a_person",
  description: "Asks somebody who may decide.",
  input: z.object({ question: z.string() }),
});
