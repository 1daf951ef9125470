import { tool } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { type SubagentsPlugin, subagents } from "@holdfast/subagents";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { answer } from "./script.js";

/** Session that both processes work on. */
export const session = { userId: "ann", sessionId: "dinner" };

/** Creates the lead agent with its two subagents; `search` is the work of the scout's tool. */
export function lead(search: () => Promise<string>): {
  readonly agent: HarnessAgent;
  readonly team: SubagentsPlugin;
} {
  const findTables = tool({
    name: "find_tables",
    description: "Finds restaurants with a free table.",
    input: z.object({ guests: z.number() }),
    readOnly: true,
    execute: search,
  });
  const payDeposit = tool({
    name: "pay_deposit",
    description: "Pays the deposit for a party.",
    input: z.object({ euros: z.number() }),
    needsApproval: true,
    execute({ euros }) {
      console.log(`  * ${euros} euros paid`);
      return `${euros} euros paid`;
    },
  });
  // Each subagent has only the tool of its trade. Searching twice does no harm: another process may begin it anew.
  const team = subagents({
    agents: [
      {
        name: "scout",
        description: "Finds restaurants.",
        systemPrompt: "You are a scout.",
        tools: ["find_tables"],
        repeatable: true,
      },
      {
        name: "treasurer",
        description: "Pays deposits.",
        systemPrompt: "You are a treasurer.",
        tools: ["pay_deposit"],
      },
    ],
    generalPurpose: false,
  });
  const agent = HarnessAgent.builder()
    .name("host")
    .systemPrompt("You organise dinners.")
    .model(scriptedModel(answer))
    .tools(findTables, payDeposit)
    .use(team)
    .build();
  return { agent, team };
}
