import { ConfigurationError } from "@holdfast/core";
import { spawnScript } from "@holdfast/testing";
import { privateRedis, type RedisServer, type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import { Cluster, Redis } from "ioredis";
import { createClient, createClientPool, createCluster, createSentinel } from "redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RedisClient } from "../../src/connection/redis-client.js";
import { connect } from "../../src/connection/redis-connection.js";
import { append, ownKey } from "./scripts.js";

let server: RedisServer;
let proxy: TcpProxy;
beforeAll(async () => {
  server = await privateRedis();
  proxy = await tcpProxy(server);
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

const options = { commandTimeoutMs: 5_000 };
const listener = { onMessage() {}, onGap() {} };

test("no socket is opened before it is needed, and then one for commands and one for messages", async () => {
  const client = new Redis({ host: proxy.host, port: proxy.port, lazyConnect: true });
  const parts = Array.from({ length: 5 }, () => connect(client, options));
  expect(proxy.connections).toBe(0);
  await Promise.all(parts.map((part) => part.run("appending", append, [ownKey()], [1])));
  expect(proxy.connections).toBe(1);
  await Promise.all(parts.map((part, at) => part.subscribe(`channel ${at % 2}`, listener)));
  expect(proxy.connections).toBe(2);
  for (const part of parts.slice(1)) await part.close();
  await parts[0]?.send("reading", "GET", [ownKey()]);
  expect(proxy.connections).toBe(2);
  await parts[0]?.close();
  await expect.poll(() => proxy.connections).toBe(0);
  client.disconnect();
});

test("the database and the name of the client are those of the connections", async () => {
  const client = new Redis(`redis://${proxy.host}:${proxy.port}/3`, {
    ...{ lazyConnect: true, connectionName: "mine" },
  });
  const connection = connect(client, options);
  const info = String(await connection.send("asking", "CLIENT", ["INFO"]));
  expect(info).toContain(" db=3 ");
  expect(info).toContain(" name=mine ");
  await connection.close();
  const other = createClient({ url: `redis://${proxy.host}:${proxy.port}/4`, name: "mine" });
  const second = connect(other as unknown as RedisClient, options);
  const otherInfo = String(await second.send("asking", "CLIENT", ["INFO"]));
  expect(otherInfo).toContain(" db=4 ");
  expect(otherInfo).toContain(" name=mine ");
  await second.close();
});

test("options of the client that would change replies or their order are not taken over", async () => {
  const client = new Redis({
    ...{ host: proxy.host, port: proxy.port, lazyConnect: true },
    ...{
      stringNumbers: true,
      enableAutoPipelining: true,
      replyMapping: "resp3",
      commandTimeout: 1,
    },
  });
  const connection = connect(client, options);
  const key = ownKey();
  expect(await connection.send("writing", "HSET", [key, "a", "b"])).toBe(1);
  expect(await connection.send("reading", "HGETALL", [key])).toEqual(["a", "b"]);
  await connection.close();
  const other = createClient({
    ...{ socket: { host: proxy.host, port: proxy.port }, RESP: 3 },
    ...{ commandOptions: { timeout: 1, typeMapping: { 36: Buffer } } },
  });
  const second = connect(other as unknown as RedisClient, options);
  expect(await second.send("reading", "HGETALL", [key])).toEqual(["a", "b"]);
  await second.close();
});

test("a client this package cannot use is refused, with the kinds it can", () => {
  const socket = { host: server.host, port: server.port };
  const refused: unknown[] = [
    createCluster({ rootNodes: [{ socket }] }),
    createSentinel({ name: "mymaster", sentinelRootNodes: [{ host: server.host, port: 1 }] }),
    createClientPool({ socket }),
    new Map(),
    { duplicate: () => undefined },
  ];
  for (const client of refused) {
    expect(() => connect(client as RedisClient, options)).toThrow("of redis (node-redis)");
    expect(() => connect(client as RedisClient, options)).toThrow(ConfigurationError);
  }
});

test("a client with a prefix for keys is refused, with the option to use instead", () => {
  const at = { host: server.host, port: server.port, lazyConnect: true };
  const clients: unknown[] = [
    new Redis({ ...at, keyPrefix: "app:" }),
    new Cluster([at], { lazyConnect: true, keyPrefix: "app:" }),
    new Cluster([at], { lazyConnect: true, redisOptions: { keyPrefix: "app:" } }),
  ];
  for (const client of clients)
    expect(() => connect(client as RedisClient, options)).toThrow("its own option keyPrefix");
});

test.each(["ioredis", "node-redis"])(
  "a process ends when its %s client was closed, though no part was",
  async (kind) => {
    const script = new URL("./children/ends-with-its-client.mjs", import.meta.url);
    const child = spawnScript(script, [kind, String(server.port)]);
    expect(await child.exited).toMatchObject({ code: 0 });
    expect(child.lines).toEqual(["closing"]);
    expect(child.stderr).toBe("");
  },
);
