import { type AgentStateStore, ReActAgent, type ReActAgentOptions, tool } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { type Door, door } from "./door.js";

/** An agent whose turn changes head sections, says things and then hangs in a tool. */
export function unfinishedTurn(
  store: AgentStateStore,
  options: Partial<ReActAgentOptions> = {},
): { agent: ReActAgent; reached: Door<void> } {
  const reached = door();
  const edit = tool({
    name: "edit",
    description: "Changes the state.",
    input: z.object({}),
    execute: (_, { agentState }) => {
      if (!agentState) throw new Error("no state");
      agentState.tasksContext.tasks = [{ content: "unfinished", status: "pending" }];
      agentState.planModeContext = { active: true, planFile: "p.md" };
      agentState.extensions["mine"] = { version: 1, value: 1 };
      return "edited";
    },
  });
  const hang = tool({
    name: "hang",
    description: "Never ends.",
    input: z.object({}),
    execute: () => {
      reached.open();
      return new Promise(() => undefined);
    },
  });
  const agent = new ReActAgent({
    name: "a",
    model: scriptedModel([
      { text: "First", toolCalls: [{ name: "edit", input: {} }] },
      { text: "Then", toolCalls: [{ name: "hang", input: {} }] },
    ]),
    tools: [edit, hang],
    stateStore: store,
    ...options,
  });
  return { agent, reached };
}
