import { randomUUID } from "node:crypto";
import { scaled } from "@holdfast/testing";
import { type Address, privateRedisCluster } from "@holdfast/testing/servers";
import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis-5";
import { createClient } from "redis";
import { createClient as createClient5 } from "redis-5";
import { inject } from "vitest";
import type { RedisClient } from "../../src/connection/redis-client.js";

/** A client of a test, and how it is ended. */
export interface TestClient {
  readonly client: RedisClient;
  end(): unknown;
}

/** A server, or several, and clients of one kind to it. */
export interface TestRedis {
  /** A client; `address` where it goes to a single server by another way. */
  connect(address?: Address): TestClient;
  /** The server, where there is a single one. */
  readonly address?: Address;
  stop(): Promise<void>;
}

/** A key prefix no other test has. */
export function ownPrefix(): string {
  return `${randomUUID()}:`;
}

/** A client of ioredis; errors of a server that a test takes away are part of the test. */
export function ioredis(url: string): TestClient & { readonly client: Redis } {
  const client = new Redis(url, { lazyConnect: true });
  client.on("error", () => {});
  return { client, end: () => client.disconnect() };
}

function ioredis5(url: string): TestClient {
  const client = new Redis5(url, { lazyConnect: true });
  client.on("error", () => {});
  return { client, end: () => client.disconnect() };
}

/** Each client's first one of a worker: its copies share its class, which takes milliseconds to make. */
const originals = new Map<typeof createClient, ReturnType<typeof createClient>>();

function nodeRedis(url: string, create: typeof createClient = createClient): TestClient {
  const original = originals.get(create) ?? create();
  originals.set(create, original);
  const client = original.duplicate({ url });
  client.on("error", () => {});
  // Only a client that was open can end, and take along what was made from it.
  client.connect().catch(() => {});
  return { client, end: () => client.isOpen && client.destroy() };
}

async function single(connect: (url: string) => TestClient): Promise<TestRedis> {
  const { hostname: host, port } = new URL(inject("redisUrl"));
  const address = { host, port: Number(port) };
  return {
    address,
    connect: ({ host, port } = address) => connect(`redis://${host}:${port}`),
    stop: async () => {},
  };
}

async function cluster(Client: typeof Cluster | typeof Cluster5): Promise<TestRedis> {
  const servers = await privateRedisCluster();
  const nodes = servers.nodes.map(({ host, port }) => ({ host, port }));
  return {
    connect() {
      const client = new Client(nodes, { lazyConnect: true });
      client.on("error", () => {});
      return { client, end: () => client.disconnect() };
    },
    stop: () => servers.stop(),
  };
}

/** Every client and topology this package supports, by name. */
export const everyTopology: { readonly [name: string]: () => Promise<TestRedis> } = {
  ioredis: () => single(ioredis),
  "ioredis 5": () => single(ioredis5),
  "node-redis": () => single((url) => nodeRedis(url)),
  "node-redis 5": () =>
    single((url) => nodeRedis(url, createClient5 as unknown as typeof createClient)),
  "ioredis Cluster": () => cluster(Cluster),
  "ioredis 5 Cluster": () => cluster(Cluster5),
};

/** Those that the suites run on: in everyday runs each client once, in its newest version, one of them on a cluster. */
export const topologies: readonly (readonly [string, () => Promise<TestRedis>])[] = scaled(
  ["node-redis", "ioredis Cluster"],
  Object.keys(everyTopology),
).map((name) => [name, everyTopology[name] as () => Promise<TestRedis>]);
