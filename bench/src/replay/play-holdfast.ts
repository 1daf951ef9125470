import {
  type AgentEvent,
  type AgentStateStore,
  type ConversationLog,
  InMemoryAgentStateStore,
  type Message,
  type Plugin,
  ReActAgent,
  type TokenCounter,
  type Tool,
  tool,
  userMessage,
} from "@holdfast/core";
import { systemPrompt, toolSchemas } from "./airline-desk.js";
import { replayModel } from "./replay-model.js";
import type { ReplayProvider } from "./replay-provider.js";
import type { Script } from "./script.js";

/** Script to play on Holdfast, and the parts of the agent. */
export interface HoldfastPlay {
  readonly script: Script;
  readonly provider: ReplayProvider;
  readonly plugins: readonly Plugin[];
  readonly tokenCounter?: TokenCounter | undefined;
  /** @default one in memory, of its own */
  readonly stateStore?: AgentStateStore | undefined;
  readonly log?: ConversationLog | undefined;
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
}

/** Plays all turns of a script in one session. @returns the context in the end */
export async function playHoldfast(play: HoldfastPlay): Promise<readonly Message[]> {
  const { script, provider, plugins, tokenCounter, log, onEvent } = play;
  const { stateStore = new InMemoryAgentStateStore() } = play;
  const agent = new ReActAgent({
    name: "airline",
    model: replayModel(provider),
    systemPrompt,
    tools: replayTools(script, provider),
    plugins,
    stateStore,
    tokenCounter,
    log,
    maxIterations: 1 + Math.max(...script.turns.map(({ replies }) => replies.length)),
    onEvent,
  });
  try {
    for (const { users } of script.turns)
      await agent.call(
        users.map((text) => userMessage(text)),
        { sessionId: "replay" },
      );
    return (await agent.getAgentState({ sessionId: "replay" }))?.context ?? [];
  } finally {
    await agent.close();
  }
}

/** The script's tools, which return what was recorded. */
function replayTools(script: Script, provider: ReplayProvider): Tool[] {
  return toolSchemas(script).map(({ name, description, inputSchema }) =>
    tool({
      name,
      description,
      input: { schema: anything, jsonSchema: inputSchema },
      execute: () => provider.resultOf(name),
    }),
  );
}

const anything = {
  "~standard": {
    version: 1 as const,
    vendor: "holdfast-bench",
    validate: (value: unknown) => ({ value }),
  },
};
