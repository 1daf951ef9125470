/**
 * A client this package can make connections from: ioredis 6 (`Redis`, also with sentinels, and `Cluster`) or a client of
 * `redis` (node-redis). Structural, so that neither has to be installed.
 */
export interface RedisClient {
  duplicate(...args: never[]): unknown;
}
