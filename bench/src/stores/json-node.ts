import { join } from "node:path";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { AgentNode } from "./agent-node.js";
import type { NodeOptions, NodePlace } from "./node-place.js";

/** Opens a node on JSON files. */
export function jsonNode({ directory, workspace }: NodePlace, options: NodeOptions): AgentNode {
  const stateStore = new JsonFileAgentStateStore({ root: join(directory, "state") });
  const closeStore = () => stateStore.close();
  return new AgentNode({ ...options, workspace, stateStore, closeStore });
}
