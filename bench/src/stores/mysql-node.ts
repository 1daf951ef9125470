import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";
import { AgentNode } from "./agent-node.js";
import type { NodeOptions, NodePlace } from "./node-place.js";

/** Opens a node on MySQL, with a pool of its own. */
export function mysqlNode({ url, prefix, workspace }: NodePlace, options: NodeOptions): AgentNode {
  const pool = createPool(url);
  const distributedStore = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  const closeStore = async () => {
    await distributedStore.close();
    await pool.end();
  };
  return new AgentNode({ ...options, workspace, distributedStore, closeStore });
}
