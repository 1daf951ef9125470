import type { AgentStateStore } from "@holdfast/core";
import { MysqlAgentStateStore } from "@holdfast/store-mysql";
import { describeAgentStateStore } from "@holdfast/testing";
import { slotHash } from "../../src/keys.js";
import { dropTables, freshPrefix, proxiedPool, testPool } from "../log/fresh-tables.js";

const pool = testPool();
const opened = new WeakMap<
  AgentStateStore,
  { prefix: string; network?: Awaited<ReturnType<typeof proxiedPool>> }
>();

describeAgentStateStore("MysqlAgentStateStore", {
  fuses: ["gate", "log"],
  async create() {
    const [prefix, network] = [freshPrefix(), await proxiedPool()];
    const store = new MysqlAgentStateStore({ pool: network.pool, tablePrefix: prefix });
    opened.set(store, { prefix, network });
    return store;
  },
  reopen(first) {
    const prefix = opened.get(first)?.prefix as string;
    const store = new MysqlAgentStateStore({ pool, tablePrefix: prefix });
    opened.set(store, { prefix });
    return store;
  },
  async cleanup(store) {
    await opened.get(store)?.network?.[Symbol.asyncDispose]();
    await dropTables(pool, opened.get(store)?.prefix as string);
  },
  async corrupt(store, slot) {
    const prefix = opened.get(store)?.prefix;
    await pool.execute(`DELETE FROM ${prefix}messages WHERE k = ? AND pos = 7`, [slotHash(slot)]);
  },
  breakBackend: (store) => opened.get(store)?.network?.proxy.close(),
});
