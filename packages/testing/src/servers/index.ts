export { freePort } from "./free-port.js";
export {
  type MariadbServer,
  type PrivateMariadbOptions,
  privateMariadb,
} from "./private-mariadb.js";
export {
  type PrivateRedisOptions,
  privateRedis,
  type RedisNode,
  type RedisServer,
} from "./private-redis.js";
export { privateRedisCluster, type RedisClusterServers } from "./private-redis-cluster.js";
export { privateRedisSentinel, type RedisSentinelServers } from "./private-redis-sentinel.js";
export { type Address, redisCommand } from "./redis-command.js";
export { roundTripsOf } from "./round-trips-of.js";
export type { ServerProcess } from "./server-group.js";
export { type SharedServer, sharedMariadb, sharedRedis } from "./shared-servers.js";
export { type ProxyMode, type TcpProxy, tcpProxy } from "./tcp-proxy.js";
