import type { AgentNode } from "./agent-node.js";
import type { NodeOptions, NodePlace } from "./node-place.js";
import type { StoreName } from "./store-side.js";

/** Opens a node: an agent with caches and connections of its own. Loads the driver of this store alone, as a program would. */
export async function openNode(
  store: StoreName,
  place: NodePlace,
  options: NodeOptions = {},
): Promise<AgentNode> {
  switch (store) {
    case "redis":
      return (await import("./redis-node.js")).redisNode(place, options);
    case "mysql":
      return (await import("./mysql-node.js")).mysqlNode(place, options);
    case "json":
      return (await import("./json-node.js")).jsonNode(place, options);
  }
}
