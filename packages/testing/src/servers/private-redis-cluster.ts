import { eventually } from "../crash/eventually.js";
import { freePort } from "./free-port.js";
import { type RedisNode, startRedis } from "./private-redis.js";
import { redisCommand } from "./redis-command.js";
import { ServerGroup } from "./server-group.js";

/** A Redis Cluster of a test's own: three masters with a replica each. */
export interface RedisClusterServers extends AsyncDisposable {
  readonly nodes: readonly RedisNode[];
  /** The nodes that are masters by their own account right now; nodes that do not answer are left out. */
  masters(): Promise<RedisNode[]>;
  /** The master that serves a key. */
  masterOf(key: string): Promise<RedisNode>;
  /** Resolves once all slots are served and every replica follows its master. */
  settled(): Promise<void>;
  /** Ends all nodes and deletes their data; idempotent. */
  stop(): Promise<void>;
}

const slotRanges = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
] as const;

/** Time without a reply after which a master is replaced by its replica. */
const nodeTimeoutMs = 1_000;

/**
 * Starts a Redis Cluster on free loopback ports.
 *
 * @example await using cluster = await privateRedisCluster();
 */
export async function privateRedisCluster(): Promise<RedisClusterServers> {
  const group = await ServerGroup.create();
  const stop = () => group.stop();
  try {
    const nodes = await Promise.all(Array.from({ length: 6 }, () => startNode(group)));
    const cluster = clusterOf(nodes, stop);
    await join(nodes);
    await cluster.settled();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startNode(group: ServerGroup): Promise<RedisNode> {
  return startRedis(group, [
    ...["--cluster-enabled", "yes", "--cluster-port", String(await freePort())],
    ...["--cluster-node-timeout", String(nodeTimeoutMs), "--cluster-replica-validity-factor", "0"],
    ...["--repl-diskless-sync-delay", "0"],
  ]);
}

/** Gives the first three the slots and the others a master each. */
async function join(nodes: readonly RedisNode[]): Promise<void> {
  const [first] = nodes;
  for (const [index, [from, to]] of slotRanges.entries()) {
    const node = nodes[index] as RedisNode;
    await redisCommand(node, "CLUSTER", "ADDSLOTSRANGE", from, to);
    await redisCommand(node, "CLUSTER", "SET-CONFIG-EPOCH", index + 1);
  }
  const busPort = (await redisCommand(first as RedisNode, "CONFIG", "GET", "cluster-port"))
    .split("\n")
    .at(-1) as string;
  for (const node of nodes.slice(1)) {
    const { host, port } = first as RedisNode;
    await redisCommand(node, "CLUSTER", "MEET", host, port, busPort);
  }
  for (const [index] of slotRanges.entries()) {
    const master = await redisCommand(nodes[index] as RedisNode, "CLUSTER", "MYID");
    const replica = nodes[index + slotRanges.length] as RedisNode;
    await eventually(
      async () => (await redisCommand(replica, "CLUSTER", "REPLICATE", master)) === "OK",
      { what: "a replica knowing its master", timeoutMs: 30_000, intervalMs: 50 },
    );
  }
}

function clusterOf(nodes: readonly RedisNode[], stop: () => Promise<void>): RedisClusterServers {
  const masters = async (): Promise<RedisNode[]> => {
    const roles = await Promise.all(
      nodes.map((node) => redisCommand(node, "ROLE").catch(() => "no answer")),
    );
    return nodes.filter((_, index) => roles[index]?.startsWith("master"));
  };
  return {
    nodes,
    masters,
    async masterOf(key) {
      const [asked] = await masters();
      if (asked === undefined) throw new Error("no master of the cluster answers");
      const slot = Number(await redisCommand(asked, "CLUSTER", "KEYSLOT", key));
      const lines = (await redisCommand(asked, "CLUSTER", "NODES")).split("\n");
      const owner = lines.find((line) => servesSlot(line, slot));
      const port = Number(/^\S+ [^ :]+:(\d+)@/.exec(owner ?? "")?.[1]);
      const node = nodes.find((candidate) => candidate.port === port);
      if (node === undefined) throw new Error(`no master of the cluster serves hash slot ${slot}`);
      return node;
    },
    async settled() {
      await eventually(
        async () => {
          for (const node of nodes) {
            const info = await redisCommand(node, "CLUSTER", "INFO");
            if (!info.includes("cluster_state:ok") || !info.includes("cluster_known_nodes:6"))
              return false;
            const replication = await redisCommand(node, "INFO", "replication");
            const followed =
              replication.includes("master_link_status:up") ||
              replication.includes("connected_slaves:1");
            if (!followed) return false;
          }
          return true;
        },
        { what: "the cluster being whole", timeoutMs: 30_000, intervalMs: 50 },
      );
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** True for the line of `CLUSTER NODES` of the live master of a hash slot. */
function servesSlot(line: string, slot: number): boolean {
  const [, , flags = "", , , , , ...ranges] = line.split(" ");
  if (!flags.includes("master") || flags.includes("fail")) return false;
  return ranges.some((range) => {
    const [from, to = from] = range.split("-").map(Number);
    return from !== undefined && to !== undefined && from <= slot && slot <= to;
  });
}
