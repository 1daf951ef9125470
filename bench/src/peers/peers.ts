import { deepagents } from "./deepagents.js";
import { langgraphMemory, langgraphRedis } from "./langgraph.js";
import { mastra } from "./mastra.js";
import { openaiAgents } from "./openai-agents.js";
import type { Peer } from "./peer.js";

/** All peers, in the order of the tables. */
export function allPeers(redisUrl: string): readonly Peer[] {
  return [openaiAgents, langgraphMemory, langgraphRedis(redisUrl), deepagents, mastra];
}
