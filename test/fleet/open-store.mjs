// Opens the distributed store a test chose, in whatever process.
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { Cluster, Redis } from "ioredis";
import { createPool } from "mysql2/promise";

/**
 * @typedef {{
 *   kind: "redis" | "redis-cluster" | "redis-sentinel" | "mysql",
 *   url?: string, nodes?: { host: string, port: number }[], name?: string,
 *   prefix: string, leaseMs?: number, commandTimeoutMs?: number, minReplicas?: number,
 * }} StoreChoice
 */

/** @param {StoreChoice} choice */
export function openStore(choice) {
  const { kind, prefix, leaseMs, commandTimeoutMs } = choice;
  if (kind === "mysql") {
    const pool = createPool({ uri: choice.url, connectTimeout: 2_000 });
    const store = MysqlDistributedStore.from(pool, {
      tablePrefix: prefix,
      leaseMs,
      commandTimeoutMs,
    });
    return { store, close: () => store.stateStore.close().then(() => pool.end()) };
  }
  const client = redisClient(choice);
  // What the store's own connections go through is the store's to handle; this one is only their recipe.
  client.on("error", () => undefined);
  const { minReplicas } = choice;
  const store = RedisDistributedStore.from(client, {
    keyPrefix: prefix,
    leaseMs,
    commandTimeoutMs,
    minReplicas,
  });
  return { store, close: () => store.stateStore.close().then(() => client.disconnect()) };
}

/** @param {StoreChoice} choice */
function redisClient({ kind, url, nodes, name }) {
  if (kind === "redis-cluster") return new Cluster(nodes, { lazyConnect: true });
  if (kind === "redis-sentinel") return new Redis({ sentinels: nodes, name, lazyConnect: true });
  return new Redis(url, { lazyConnect: true });
}
