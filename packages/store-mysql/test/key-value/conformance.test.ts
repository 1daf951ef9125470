import type { KeyValueStore } from "@holdfast/core";
import { MysqlKeyValueStore } from "@holdfast/store-mysql";
import { describeKeyValueStore } from "@holdfast/testing";
import { cutPool, dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";

const pool = testPool();
const opened = new WeakMap<
  KeyValueStore,
  { prefix: string; network?: ReturnType<typeof cutPool> }
>();

describeKeyValueStore("MysqlKeyValueStore", {
  async create() {
    const [prefix, network] = [freshPrefix(), cutPool()];
    const store = new MysqlKeyValueStore({ pool: network.pool, tablePrefix: prefix });
    opened.set(store, { prefix, network });
    return store;
  },
  reopen(first) {
    const prefix = opened.get(first)?.prefix as string;
    const store = new MysqlKeyValueStore({ pool, tablePrefix: prefix });
    opened.set(store, { prefix });
    return store;
  },
  async cleanup(store) {
    await opened.get(store)?.network?.[Symbol.asyncDispose]();
    await dropTables(pool, opened.get(store)?.prefix as string);
  },
  breakBackend: (store) => opened.get(store)?.network?.cut(),
});
