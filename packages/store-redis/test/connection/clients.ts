import { scaled } from "@holdfast/testing";
import type { Address } from "@holdfast/testing/servers";
import { Cluster, Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis-5";
import { createClient } from "redis";
import { createClient as createClient5 } from "redis-5";
import type { RedisClient } from "../../src/connection/redis-client.js";

/** A client as a user would make it, without any special options. */
export interface UserClient {
  readonly client: RedisClient;
  /** What the user does with a client that is not needed any more. */
  end(): Promise<void>;
}

export function ioredis({ host, port }: Address, options: object = {}): UserClient {
  return ended(new Redis({ host, port, ...options }));
}

export function ioredis5({ host, port }: Address, options: object = {}): UserClient {
  return ended(new Redis5({ host, port, ...options }));
}

function ended(client: Redis | Redis5): UserClient {
  client.on("error", () => undefined);
  return { client, end: async () => client.disconnect() };
}

export function ioredisSentinel(sentinels: readonly Address[], name: string): UserClient {
  const client = new Redis({
    sentinels: sentinels.map(({ host, port }) => ({ host, port })),
    name,
  });
  client.on("error", () => undefined);
  return { client, end: async () => client.disconnect() };
}

export function ioredisCluster(nodes: readonly Address[]): UserClient {
  const client = new Cluster(nodes.map(({ host, port }) => ({ host, port })));
  client.on("error", () => undefined);
  return { client, end: async () => client.disconnect() };
}

export async function nodeRedis(at: Address, options: object = {}): Promise<UserClient> {
  const user = nodeRedisRecipe(at, options);
  await user.connect();
  return user;
}

export async function nodeRedis5(at: Address, options: object = {}): Promise<UserClient> {
  const user = nodeRedisRecipe(at, options, createClient5 as unknown as typeof createClient);
  await user.connect();
  return user;
}

/** A client of node-redis that was never connected. */
export function nodeRedisRecipe(
  { host, port }: Address,
  options: object = {},
  create: typeof createClient = createClient,
): UserClient & { connect(): Promise<unknown> } {
  const client = create({ socket: { host, port }, ...options });
  client.on("error", () => undefined);
  return {
    client: client as unknown as RedisClient,
    connect: () => client.connect(),
    end: async () => void (client.isOpen && client.destroy()),
  };
}

/** A kind of client that talks to one server: its name, and how a user makes one. */
type ClientKind = readonly [
  string,
  (at: Address, options?: object) => UserClient | Promise<UserClient>,
];

const newest: readonly ClientKind[] = [
  ["ioredis", ioredis],
  ["node-redis", nodeRedis],
];

/** The kinds of clients that faults are tried on: the newest, and in the long run all that the package takes. */
export const singleServerKinds: readonly ClientKind[] = scaled(newest, [
  ...newest,
  ["ioredis 5", ioredis5],
  ["node-redis 5", nodeRedis5],
]);
