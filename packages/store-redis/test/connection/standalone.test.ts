import { privateRedis, type RedisServer } from "@holdfast/testing/servers";
import { afterAll, beforeAll } from "vitest";
import { ioredis, ioredis5, nodeRedis, nodeRedis5 } from "./clients.js";
import { describeConnection } from "./connection-suite.js";

let server: RedisServer;
beforeAll(async () => {
  server = await privateRedis();
});
afterAll(() => server.stop());

describeConnection("an ioredis client", {
  newClient: () => ioredis(server),
  nodes: () => [server],
});

describeConnection("an ioredis client that is never connected", {
  newClient: () => ioredis(server, { lazyConnect: true }),
  nodes: () => [server],
});

describeConnection("a node-redis client", {
  newClient: () => nodeRedis(server),
  nodes: () => [server],
});

describeConnection("a client of ioredis 5", {
  newClient: () => ioredis5(server),
  nodes: () => [server],
});

describeConnection("a client of node-redis 5", {
  newClient: () => nodeRedis5(server),
  nodes: () => [server],
});
