import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { Redis } from "ioredis";
import { inject, test } from "vitest";
import { giveBackEveryByte, timeout } from "./every-byte.js";

test("whatever happened to a context, the agent's own tools give back every byte of it from Redis", {
  timeout,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-history-"));
  const client = new Redis(inject("redisUrl"));
  const parts = RedisDistributedStore.from(client, { keyPrefix: `${randomUUID()}:` });
  try {
    await giveBackEveryByte(parts, directory);
  } finally {
    await parts.stateStore.close();
    await client.quit();
    rmSync(directory, { recursive: true, force: true });
  }
});
