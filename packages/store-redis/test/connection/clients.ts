import type { Address } from "@holdfast/testing/servers";
import { Cluster, Redis } from "ioredis";
import { createClient } from "redis";
import type { RedisClient } from "../../src/connection/redis-client.js";

/** A client as a user would make it, without any special options. */
export interface UserClient {
  readonly client: RedisClient;
  /** What the user does with a client that is not needed any more. */
  end(): Promise<void>;
}

export function ioredis({ host, port }: Address, options: object = {}): UserClient {
  const client = new Redis({ host, port, ...options });
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

/** A client of node-redis that was never connected. */
export function nodeRedisRecipe(
  { host, port }: Address,
  options: object = {},
): UserClient & { connect(): Promise<unknown> } {
  const client = createClient({ socket: { host, port }, ...options });
  client.on("error", () => undefined);
  return {
    client: client as unknown as RedisClient,
    connect: () => client.connect(),
    end: async () => client.destroy(),
  };
}

/** The kinds of clients that talk to one server, with their names. */
export const singleServerKinds: readonly [
  string,
  (at: Address, options?: object) => UserClient | Promise<UserClient>,
][] = [
  ["ioredis", ioredis],
  ["node-redis", nodeRedis],
];
