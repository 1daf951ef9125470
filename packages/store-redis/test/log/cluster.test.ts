import { describeConversationLog } from "@holdfast/testing";
import { privateRedisCluster, type RedisClusterServers } from "@holdfast/testing/servers";
import { Cluster } from "ioredis";
import { afterAll, beforeAll } from "vitest";
import { RedisConversationLog } from "../../src/log/redis-conversation-log.js";
import { ownPrefix } from "./redis-logs.js";

let servers: RedisClusterServers;
let client: Cluster;
const prefixes = new WeakMap<object, string>();

beforeAll(async () => {
  servers = await privateRedisCluster();
  client = new Cluster(servers.nodes.map(({ host, port }) => ({ host, port })));
});

afterAll(async () => {
  client.disconnect();
  await servers.stop();
});

function open(keyPrefix: string = ownPrefix()): RedisConversationLog {
  // With a replica to wait for, every write also goes the other way through the connection.
  const log = new RedisConversationLog({ client, keyPrefix, minReplicas: 1 });
  prefixes.set(log, keyPrefix);
  return log;
}

describeConversationLog("RedisConversationLog on a cluster", {
  create: () => open(),
  reopen: (log) => open(prefixes.get(log)),
  cleanup: (log) => (log as RedisConversationLog).close(),
});
