import { langchainModel } from "./langchain-model.js";
import { langchainPackages } from "./langgraph.js";
import { type LanggraphAgent, type LanggraphModule, langgraphTurns } from "./langgraph-agent.js";
import type { Peer } from "./peer.js";

interface DeepagentsModule {
  readonly createDeepAgent: (options: object) => LanggraphAgent;
}

/** deepagents, threads in memory: nothing is stored outside the process. */
export const deepagents: Peer = {
  name: "deepagents",
  store: "memory",
  packages: [...langchainPackages, "deepagents@1.14.1"],
  async open(modules) {
    const { MemorySaver } = await modules.load<LanggraphModule>("@langchain/langgraph");
    const { createDeepAgent } = await modules.load<DeepagentsModule>("deepagents");
    const model = await langchainModel(modules);
    return langgraphTurns(createDeepAgent({ model, checkpointer: new MemorySaver() }), modules);
  },
};
