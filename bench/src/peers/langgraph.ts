import { langchainModel } from "./langchain-model.js";
import { type LanggraphAgent, type LanggraphModule, langgraphTurns } from "./langgraph-agent.js";
import type { Peer, PeerModules } from "./peer.js";

/** Versions that go together. */
export const langchainPackages: readonly string[] = [
  "langchain@1.5.14",
  "@langchain/core@1.2.13",
  "@langchain/langgraph@1.4.18",
  "@langchain/langgraph-checkpoint@1.1.5",
  "@langchain/langgraph-sdk@1.12.0",
  "langsmith@0.9.0",
  "zod@4.6.7",
];

interface LangchainModule {
  readonly createAgent: (options: object) => LanggraphAgent;
}

interface RedisSaverModule {
  readonly RedisSaver: { fromUrl(url: string): Promise<object> };
}

/** LangGraph.js with `createAgent`, threads in memory: nothing is stored outside the process. */
export const langgraphMemory: Peer = {
  name: "LangGraph.js createAgent",
  store: "memory",
  packages: langchainPackages,
  async open(modules) {
    const { MemorySaver } = await modules.load<LanggraphModule>("@langchain/langgraph");
    return agentWith(new MemorySaver(), modules);
  },
};

/** The same, threads in Redis; its saver needs the modules RedisJSON and RediSearch, which come with Redis 8. */
export function langgraphRedis(url: string): Peer {
  return {
    name: "LangGraph.js createAgent",
    store: "redis",
    packages: [...langchainPackages, "@langchain/langgraph-checkpoint-redis@1.0.11"],
    async open(modules) {
      const { RedisSaver } = await modules.load<RedisSaverModule>(
        "@langchain/langgraph-checkpoint-redis",
      );
      return agentWith(await RedisSaver.fromUrl(url), modules);
    },
  };
}

async function agentWith(
  checkpointer: object,
  modules: PeerModules,
): ReturnType<typeof langgraphTurns> {
  const { createAgent } = await modules.load<LangchainModule>("langchain");
  const model = await langchainModel(modules);
  return langgraphTurns(createAgent({ model, tools: [], checkpointer }), modules);
}
