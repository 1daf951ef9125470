import { StoreUnavailableError } from "@holdfast/core";
import { privateRedis, type RedisServer } from "@holdfast/testing/servers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RedisDistributedStore } from "../../src/index.js";
import { ioredis, nodeRedisRecipe } from "./clients.js";

let server: RedisServer;
beforeAll(async () => {
  server = await privateRedis();
});
afterAll(() => server.stop());

const slot = { agentId: "a", userId: null, sessionId: "s" };
const write = { op: "op-1", expected: null, head: {}, keep: 0, replace: [], append: [] };

/** Recipes: a client of node-redis that is to connect itself would try for ever. */
const kinds = [
  { name: "ioredis", makeClient: (db: number) => ioredis(server, { db, lazyConnect: true }) },
  { name: "node-redis", makeClient: (database: number) => nodeRedisRecipe(server, { database }) },
];

describe.each(kinds)("$name", ({ makeClient }) => {
  test("what is in one database is not in another", async () => {
    const clients = [makeClient(1).client, makeClient(2).client];
    const stores = clients.map((client) => RedisDistributedStore.from(client));
    try {
      await stores[0]?.stateStore.save(slot, write);
      expect(await stores[0]?.stateStore.load(slot)).not.toBeNull();
      expect(await stores[1]?.stateStore.load(slot)).toBeNull();
    } finally {
      for (const store of stores) await store.close();
    }
  });

  test("a database that the server does not have is an error, not the first one", async () => {
    const store = RedisDistributedStore.from(makeClient(99).client);
    try {
      const failure = await store.stateStore.load(slot).catch((error: unknown) => error);
      expect(StoreUnavailableError.is(failure)).toBe(true);
      expect((failure as Error).message).toContain("has no such database");
    } finally {
      await store.close();
    }
  });
});
