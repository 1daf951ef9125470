import type { ConversationLog } from "@holdfast/core";
import { MysqlConversationLog } from "@holdfast/store-mysql";
import { describeConversationLog } from "@holdfast/testing";
import { cutPool, dropTables, freshTables, testPool } from "./fresh-tables.js";

const pool = testPool();
const opened = new WeakMap<
  ConversationLog,
  { prefix: string; network?: ReturnType<typeof cutPool> }
>();

describeConversationLog("MysqlConversationLog", {
  async create() {
    const [prefix, network] = [await freshTables(pool), cutPool()];
    const log = new MysqlConversationLog({ pool: network.pool, tablePrefix: prefix });
    opened.set(log, { prefix, network });
    return log;
  },
  reopen(first) {
    const prefix = opened.get(first)?.prefix as string;
    const log = new MysqlConversationLog({ pool, tablePrefix: prefix });
    opened.set(log, { prefix });
    return log;
  },
  async cleanup(log) {
    await opened.get(log)?.network?.[Symbol.asyncDispose]();
    await dropTables(pool, opened.get(log)?.prefix as string);
  },
  breakBackend: (log) => opened.get(log)?.network?.cut(),
});
