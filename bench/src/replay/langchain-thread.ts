import { HumanMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { toolSchemas } from "./airline-desk.js";
import { HandoverSerializer } from "./handover-serializer.js";
import type { ReplayProvider } from "./replay-provider.js";
import type { Script } from "./script.js";

/** Part of an agent on LangGraph that is used. */
export interface LangchainAgent {
  invoke(
    input: { messages: HumanMessage[] },
    config: {
      configurable: { thread_id: string };
      recursionLimit: number;
      durability: "exit";
    },
  ): Promise<unknown>;
}

/** Keeps the thread between turns. */
export function langchainCheckpointer(): MemorySaver {
  return new MemorySaver(new HandoverSerializer());
}

/** The script's tools, which return what was recorded. */
export function langchainTools(
  script: Script,
  provider: ReplayProvider,
): StructuredToolInterface[] {
  return toolSchemas(script).map(({ name, description, inputSchema }) =>
    tool(async () => provider.resultOf(name), { name, description, schema: inputSchema }),
  );
}

/** Plays all turns of a script on one thread. */
export async function playThread(agent: LangchainAgent, script: Script): Promise<void> {
  for (const { users } of script.turns)
    await agent.invoke(
      { messages: users.map((text) => new HumanMessage(text)) },
      // Saving once per turn is the fastest it offers; what is saved has no part in what is sent.
      { configurable: { thread_id: "replay" }, recursionLimit: 1_000, durability: "exit" },
    );
}
