import type { AgentStateStore } from "@holdfast/core";
import { MysqlAgentStateStore } from "@holdfast/store-mysql";
import { describeAgentStateStore } from "@holdfast/testing";
import { slotHash } from "../../src/keys.js";
import { cutPool, dropTables, freshTables, testPool } from "../log/fresh-tables.js";

const pool = testPool();
const opened = new WeakMap<
  AgentStateStore,
  { prefix: string; network?: ReturnType<typeof cutPool> }
>();

async function open(ttlMs?: number): Promise<AgentStateStore> {
  const [prefix, network] = [await freshTables(pool), cutPool()];
  const store = new MysqlAgentStateStore({ pool: network.pool, tablePrefix: prefix, ttlMs });
  opened.set(store, { prefix, network });
  return store;
}

describeAgentStateStore("MysqlAgentStateStore", {
  fuses: ["gate", "log"],
  inbox: true,
  callRecords: true,
  deltaLoads: true,
  create: () => open(),
  expiring: {
    create: open,
    async pass(store, slot, ms) {
      const columns = ["used_at", "updated_at", "listed_at"].map(
        (column) => `${column} = ${column} - INTERVAL ${Math.round(ms * 1_000)} MICROSECOND`,
      );
      const prefix = opened.get(store)?.prefix;
      const sql = `UPDATE ${prefix}slots SET ${columns.join(", ")} WHERE k = ?`;
      await pool.execute(sql, [slotHash(slot)]);
    },
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
  async endLease(store, slot) {
    const prefix = opened.get(store)?.prefix;
    await pool.execute(
      `UPDATE ${prefix}slots SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE k = ?`,
      [slotHash(slot)],
    );
  },
  breakBackend: (store) => opened.get(store)?.network?.cut(),
});
