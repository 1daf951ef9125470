import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { describeFilesystem } from "@holdfast/testing";
import { RemoteFilesystem } from "@holdfast/workspace";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { afterAll, inject } from "vitest";

const client = new Redis(inject("redisUrl"));
const pool = createPool(inject("mysqlUrl"));
const redis = RedisDistributedStore.from(client, { keyPrefix: `${crypto.randomUUID()}:` });
const mysql = MysqlDistributedStore.from(pool, {
  tablePrefix: `t${crypto.randomUUID().slice(0, 8)}_`,
});

afterAll(async () => {
  await redis.stateStore.close();
  await mysql.stateStore.close();
  client.disconnect();
  await pool.end();
});

for (const [name, { keyValue }] of Object.entries({ redis, mysql })) {
  const names = new WeakMap<RemoteFilesystem, string>();
  const open = (workspace: string): RemoteFilesystem => {
    const files = new RemoteFilesystem({ keyValue, name: workspace });
    names.set(files, workspace);
    return files;
  };
  describeFilesystem(`RemoteFilesystem on ${name}`, {
    create: () => open(crypto.randomUUID()),
    reopen: (files) => open(names.get(files as RemoteFilesystem) as string),
  });
}
