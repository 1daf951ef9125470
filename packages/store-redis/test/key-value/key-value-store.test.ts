import { randomUUID } from "node:crypto";
import { type KeyValueStore, StateConflictError, StateCorruptError } from "@holdfast/core";
import { describeKeyValueStore, scaled } from "@holdfast/testing";
import {
  privateRedis,
  privateRedisCluster,
  type RedisClusterServers,
  type RedisServer,
  redisCommand,
  type TcpProxy,
  tcpProxy,
} from "@holdfast/testing/servers";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RedisKeyValueStore } from "../../src/key-value/redis-key-value-store.js";
import { ioredis, ioredisCluster, nodeRedis, type UserClient } from "../connection/clients.js";

let server: RedisServer;
let cluster: RedisClusterServers;
let proxy: TcpProxy;
let users: Record<"ioredis" | "node-redis" | "Cluster" | "proxied", UserClient>;
beforeAll(async () => {
  [server, cluster] = await Promise.all([privateRedis(), privateRedisCluster()]);
  proxy = await tcpProxy(server);
  users = {
    ioredis: ioredis(server),
    "node-redis": await nodeRedis(server),
    Cluster: ioredisCluster(cluster.nodes),
    proxied: ioredis(proxy),
  };
});
afterAll(async () => {
  for (const user of Object.values(users)) await user.end();
  await proxy.close();
  await Promise.all([server.stop(), cluster.stop()]);
});

const namespace = ["test", "values"];

// With ioredis on a single server there is the suite behind a network.
describe.each(scaled(["node-redis", "Cluster"], ["ioredis", "node-redis", "Cluster"] as const))(
  "with %s",
  (kind) => {
    const prefixes = new WeakMap<KeyValueStore, string>();
    const create = (keyPrefix = `test-${randomUUID()}:`): KeyValueStore => {
      const store = new RedisKeyValueStore({ client: users[kind].client, keyPrefix });
      prefixes.set(store, keyPrefix);
      return store;
    };
    describeKeyValueStore("RedisKeyValueStore", {
      create: () => create(),
      reopen: (store) => create(prefixes.get(store)),
    });
  },
);

describeKeyValueStore("RedisKeyValueStore behind a network", {
  async create() {
    proxy.mode = "pass";
    return proxied();
  },
  breakBackend() {
    proxy.mode = "hold";
  },
});

function proxied(): RedisKeyValueStore {
  const keyPrefix = `test-${randomUUID()}:`;
  return new RedisKeyValueStore({
    ...{ client: users.proxied.client, keyPrefix, commandTimeoutMs: 2_000 },
  });
}

/** Has the reply to the next script with `word` in it lost; resolves when it was. */
function loseReplyTo(word: string, meanwhile: () => Promise<unknown> = async () => {}) {
  return new Promise<unknown>((resolve, reject) => {
    proxy.losesReply = (request) => {
      if (!request.includes(word)) return false;
      proxy.losesReply = undefined;
      meanwhile().then(resolve, reject);
      return true;
    };
  });
}

test("a write whose reply was lost counts once and is no conflict with itself", async () => {
  proxy.mode = "pass";
  const store = proxied();
  await store.get(namespace, "warm");
  let lost = loseReplyTo("first-marker");
  const first = await store.put(namespace, "key", "first-marker", { expected: null });
  await lost;
  expect(await store.get(namespace, "key")).toEqual({ value: "first-marker", version: first });
  lost = loseReplyTo("second-marker");
  const second = await store.put(namespace, "key", "second-marker", { expected: first });
  await lost;
  expect(await store.get(namespace, "key")).toEqual({ value: "second-marker", version: second });
  lost = loseReplyTo(second);
  expect(await store.delete(namespace, "key", { expected: second })).toBe(true);
  await lost;
  expect(await store.get(namespace, "key")).toBeNull();
  await store.close();
});

test("a repeated write changes nothing of what others have written since", async () => {
  proxy.mode = "pass";
  const keyPrefix = `test-${randomUUID()}:`;
  const store = new RedisKeyValueStore({ client: users.proxied.client, keyPrefix });
  const other = new RedisKeyValueStore({ client: users.ioredis.client, keyPrefix });
  await store.get(namespace, "warm");
  const lost = loseReplyTo("mine-marker", async () => {
    for (;;) {
      const found = await other.get(namespace, "key");
      if (found?.value === "mine-marker")
        return await other.put(namespace, "key", "theirs", { expected: found.version });
    }
  });
  const [mine, theirs] = await Promise.all([store.put(namespace, "key", "mine-marker"), lost]);
  expect(mine).not.toBe(theirs);
  // Which of the two came first is chance; that the last one stays is not.
  expect(await other.get(namespace, "key")).toEqual({ value: "theirs", version: theirs });
  await Promise.all([store.close(), other.close()]);
});

test("two prefixes on one server do not see each other, and nothing is left of deleted values", async () => {
  const client = users.ioredis.client;
  const [prefixA, prefixB] = [`test-${randomUUID()}:`, `test-${randomUUID()}:`];
  const a = new RedisKeyValueStore({ client, keyPrefix: prefixA, commandTimeoutMs: 3_000 });
  const b = new RedisKeyValueStore({ client, keyPrefix: prefixB });
  await a.put(namespace, "key", 1);
  expect(await b.get(namespace, "key")).toBeNull();
  expect(await b.list(namespace)).toEqual({ keys: [] });
  await a.delete(namespace, "key");
  const left = () => redisCommand(server, "KEYS", `${prefixA}*`);
  await expect.poll(left, { timeout: 60_000 }).toBe("");
  await Promise.all([a.close(), b.close()]);
});

test("what this store did not write is corrupt, and the error does not show it", async () => {
  const keyPrefix = `test-${randomUUID()}:`;
  const store = new RedisKeyValueStore({ client: users.ioredis.client, keyPrefix });
  await store.put(namespace, "key", 1);
  const hash = await redisCommand(server, "KEYS", `${keyPrefix}*:kv`);
  for (const bad of ["canary", "version\n{canary", "\n1"]) {
    await redisCommand(server, "HSET", hash, "key", bad);
    const read = store.get(namespace, "key");
    await expect(read).rejects.toSatisfy(StateCorruptError.is);
    await expect(read).rejects.not.toThrow("canary");
  }
  await store.close();
});

test("pages hold every key that starts with the prefix, in the order of their bytes", async () => {
  const store = new RedisKeyValueStore({
    ...{ client: users.ioredis.client, keyPrefix: `test-${randomUUID()}:` },
  });
  const part = fc.constantFrom("a", "b", "\0", "ÿ", "é", "漢", "\uffff", "😀", "{", "*", "\n");
  const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(name, { maxLength: 12 }),
      fc.array(part, { maxLength: 2 }).map((parts) => parts.join("")),
      fc.integer({ min: 1, max: 5 }),
      async (names, prefix, limit) => {
        const space = [randomUUID()];
        await Promise.all(names.map((key) => store.put(space, key, 1)));
        const found: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.list(space, { prefix, limit, cursor });
          found.push(...page.keys);
          cursor = page.cursor;
        } while (cursor !== undefined);
        const expected = names
          .filter((key) => key.startsWith(prefix))
          .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: process.env["HOLDFAST_LONG"] === "1" ? 1_000 : 30 },
  );
  await store.close();
});

test("with minReplicas a write nobody has a copy of is not acknowledged", async () => {
  const store = new RedisKeyValueStore({
    ...{ client: users.ioredis.client, keyPrefix: `test-${randomUUID()}:` },
    ...{ minReplicas: 1, commandTimeoutMs: 5_000 },
  });
  await expect(store.put(namespace, "key", 1)).rejects.toThrow("only 0 of 1 replicas");
  await expect(store.put(namespace, "key", 2, { expected: null })).rejects.toSatisfy(
    StateConflictError.is,
  );
  await store.close();
});
