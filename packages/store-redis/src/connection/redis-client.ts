import { ConfigurationError } from "@holdfast/core";
import type { ClientAdapter } from "./client-adapter.js";
import { type Ioredis, IoredisAdapter } from "./ioredis-adapter.js";
import { type IoredisCluster, IoredisClusterAdapter } from "./ioredis-cluster-adapter.js";
import { type NodeRedis, NodeRedisAdapter } from "./node-redis-adapter.js";

/**
 * A client this package can make connections from: ioredis 5 or 6 (`Redis`, also with sentinels, and `Cluster`) or a client of
 * `redis` (node-redis). Structural, so that neither has to be installed.
 */
export interface RedisClient {
  duplicate(...args: never[]): unknown;
}

/**
 * Returns the adapter for `client`. Its kind is detected by its methods, not by `instanceof`: two copies of a driver may be
 * installed.
 *
 * @throws ConfigurationError
 */
export function adapterFor(client: RedisClient): ClientAdapter {
  const has = (name: string, type: string): boolean =>
    typeof (client as unknown as Record<string, unknown>)[name] === type;
  if (!has("duplicate", "function")) throw new ConfigurationError(unsupported);
  refuseKeyPrefix(client);
  if (has("isCluster", "boolean") && has("call", "function"))
    return has("nodes", "function")
      ? new IoredisClusterAdapter(client as unknown as IoredisCluster)
      : new IoredisAdapter(client as unknown as Ioredis);
  // Clusters, sentinels and pools of node-redis have no single connection that could be in subscriber mode.
  if (has("sendCommand", "function") && has("isPubSubActive", "boolean"))
    return new NodeRedisAdapter(client as unknown as NodeRedis);
  throw new ConfigurationError(unsupported);
}

const unsupported =
  "the Redis client is not of a supported kind: pass `new Redis(…)` of ioredis (with or without sentinels), `new Cluster(…)` of ioredis, or `createClient(…)` of redis (node-redis); for a cluster or sentinels use ioredis";

/** Refuses a prefix added by the client: it would not reach the channels that scripts publish to. */
function refuseKeyPrefix(client: object): void {
  const { options } = client as { options?: KeyPrefixed & { redisOptions?: KeyPrefixed } };
  if (!options?.keyPrefix && !options?.redisOptions?.keyPrefix) return;
  throw new ConfigurationError(
    "the Redis client has a keyPrefix; pass this package a client without one, and the prefix as its own option keyPrefix",
  );
}

interface KeyPrefixed {
  readonly keyPrefix?: string | null | undefined;
}
