import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ConversationLog, InMemoryConversationLog } from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { MysqlConversationLog } from "@holdfast/store-mysql";
import { RedisConversationLog } from "@holdfast/store-redis";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { inject } from "vitest";

/** A log with nothing in it, and how to put it away. */
export interface OpenLog {
  readonly log: ConversationLog;
  close(): Promise<unknown>;
}

/** Every log there is. */
export const logKinds: Readonly<Record<string, () => OpenLog>> = {
  memory: () => ({ log: new InMemoryConversationLog(), close: async () => undefined }),
  file: () => {
    const root = newDirectory();
    const log = new JsonlConversationLog({ root, durability: "os" });
    return { log, close: async () => rmSync(root, { recursive: true, force: true }) };
  },
  encrypted: () => {
    const root = newDirectory();
    const store = new JsonFileAgentStateStore({ root, durability: "os" });
    const sealed = withEncryption(store, { keys: [{ id: "k", key: Buffer.alloc(32, 7) }] });
    const log = sealed.companions?.().log;
    if (log === undefined) throw new TypeError("the store has no log");
    const close = async () => {
      await sealed.close();
      rmSync(root, { recursive: true, force: true });
    };
    return { log, close };
  },
  redis: () => {
    const client = new Redis(inject("redisUrl"));
    const log = new RedisConversationLog({ client, keyPrefix: `${randomUUID()}:` });
    return { log, close: () => log.close().then(() => client.quit()) };
  },
  mysql: () => {
    const pool = createPool({ uri: inject("mysqlUrl") });
    const log = new MysqlConversationLog({
      pool,
      tablePrefix: `t${randomUUID().slice(0, 8)}_`,
    });
    return { log, close: () => pool.end() };
  },
};

function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "holdfast-tools-"));
}
