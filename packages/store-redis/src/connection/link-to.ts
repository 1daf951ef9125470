import { ConfigurationError } from "@holdfast/core";
import { type IoredisCluster, IoredisClusterLink } from "./ioredis-cluster-link.js";
import type { Ioredis } from "./ioredis-line.js";
import { IoredisLink } from "./ioredis-link.js";
import type { Link } from "./line.js";
import { type NodeRedis, NodeRedisLink } from "./node-redis-link.js";
import type { RedisClient } from "./redis-client.js";

/**
 * How to make connections like those of `client`. The kind is told by what the client can do: two copies of a driver may
 * be installed.
 *
 * @throws ConfigurationError
 */
export function linkTo(client: RedisClient): Link {
  const has = (name: string, type: string): boolean =>
    typeof (client as unknown as Record<string, unknown>)[name] === type;
  if (!has("duplicate", "function")) throw new ConfigurationError(accepted);
  refuseKeyPrefix(client);
  if (has("isCluster", "boolean") && has("call", "function"))
    return has("nodes", "function")
      ? new IoredisClusterLink(client as unknown as IoredisCluster)
      : new IoredisLink(client as unknown as Ioredis);
  // Clusters, sentinels and pools of node-redis have no single connection that could be in subscriber mode.
  if (has("sendCommand", "function") && has("isPubSubActive", "boolean"))
    return new NodeRedisLink(client as unknown as NodeRedis);
  throw new ConfigurationError(accepted);
}

const accepted =
  "the Redis client is of no kind this package can use: give it `new Redis(…)` of ioredis (with sentinels or without), `new Cluster(…)` of ioredis, or `createClient(…)` of redis (node-redis); for a cluster or sentinels use ioredis";

/** A prefix the client puts in front of keys would tear keys and channels of this package apart. */
function refuseKeyPrefix(client: object): void {
  const { options } = client as { options?: KeyPrefixed & { redisOptions?: KeyPrefixed } };
  if (!options?.keyPrefix && !options?.redisOptions?.keyPrefix) return;
  throw new ConfigurationError(
    "the Redis client has a keyPrefix; give this package a client without one, and the prefix as its own option keyPrefix",
  );
}

interface KeyPrefixed {
  readonly keyPrefix?: string | null | undefined;
}
