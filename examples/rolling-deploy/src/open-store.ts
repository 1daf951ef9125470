import type { DistributedStore } from "@holdfast/core";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";

/** The store every process of the deployment shares. */
export interface SharedStore {
  readonly store: DistributedStore;
  close(): Promise<void>;
}

/**
 * Opens the store a URL names: this is all that differs between Redis and MySQL.
 *
 * @param prefix - in front of keys or tables, so that a run meets nobody else's data
 */
export function openStore(url: string, prefix: string): SharedStore {
  if (url.startsWith("mysql:")) {
    const pool = createPool(url);
    const store = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
    return { store, close: () => store.stateStore.close().then(() => pool.end()) };
  }
  const client = new Redis(url, { lazyConnect: true });
  const store = RedisDistributedStore.from(client, { keyPrefix: prefix });
  return {
    store,
    async close() {
      await store.stateStore.close();
      client.disconnect();
    },
  };
}
