import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";
import { AgentNode } from "./agent-node.js";
import type { NodeOptions, NodePlace } from "./node-place.js";

/** Opens a node on Redis, with a connection of its own. */
export function redisNode({ url, prefix, workspace }: NodePlace, options: NodeOptions): AgentNode {
  const client = new Redis(url);
  const distributedStore = RedisDistributedStore.from(client, { keyPrefix: prefix });
  const closeStore = async () => {
    await distributedStore.close();
    client.disconnect();
  };
  return new AgentNode({ ...options, workspace, distributedStore, closeStore });
}
