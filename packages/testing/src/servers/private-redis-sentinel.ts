import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "../crash/eventually.js";
import { freePort } from "./free-port.js";
import { type RedisNode, startRedis } from "./private-redis.js";
import { redisAnswers, redisCommand } from "./redis-command.js";
import { ServerGroup } from "./server-group.js";

/** A Redis master with two replicas, watched by three sentinels: all of a test's own. */
export interface RedisSentinelServers extends AsyncDisposable {
  /** Name of the master for the sentinels. */
  readonly name: string;
  readonly sentinels: readonly RedisNode[];
  readonly nodes: readonly RedisNode[];
  /** The node the sentinels take for the master. */
  master(): Promise<RedisNode>;
  /** Resolves once two replicas follow the master and all sentinels agree on it. */
  settled(): Promise<void>;
  /** Ends all of them and deletes their data; idempotent. */
  stop(): Promise<void>;
}

const name = "mymaster";

/** Time without a reply after which the sentinels replace the master. */
const downAfterMs = 1_000;

/**
 * Periods after which sentinels ask and tell each other, in milliseconds: by default a few seconds, and a master that came back is
 * made a replica only after four of their publish periods.
 */
const periods = { "info-period": 500, "publish-period": 250, "ask-period": 250 };

/**
 * Starts a master, two replicas and three sentinels on free loopback ports.
 *
 * @example await using redis = await privateRedisSentinel();
 */
export async function privateRedisSentinel(): Promise<RedisSentinelServers> {
  const group = await ServerGroup.create();
  const stop = () => group.stop();
  try {
    const master = await startRedis(group, ["--repl-diskless-sync-delay", "0"]);
    const follow = ["--replicaof", `${master.host} ${master.port}`];
    const replicas = await Promise.all(
      [0, 1].map(() => startRedis(group, ["--repl-diskless-sync-delay", "0", ...follow])),
    );
    const nodes = [master, ...replicas];
    await eventually(async () => (await connectedReplicas(master)) === 2, {
      what: "two replicas following the master",
      timeoutMs: 30_000,
    });
    const sentinels = await Promise.all([0, 1, 2].map(() => startSentinel(group, master)));
    const servers = sentinelServers(nodes, sentinels, stop);
    await servers.settled();
    return servers;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startSentinel(group: ServerGroup, master: RedisNode): Promise<RedisNode> {
  const address = { host: "127.0.0.1", port: await freePort() };
  const file = join(group.directory, `sentinel-${address.port}.conf`);
  await writeFile(
    file,
    [
      `port ${address.port}`,
      `bind ${address.host}`,
      "protected-mode no",
      `dir "${group.directory}"`,
      `sentinel monitor ${name} ${master.host} ${master.port} 2`,
      `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
      `sentinel failover-timeout ${name} 3000`,
      `sentinel parallel-syncs ${name} 1`,
      "",
    ].join("\n"),
  );
  const process = await group.start({
    program: "redis-server",
    args: [file, "--sentinel"],
    debianPackage: "redis-server",
    answers: redisAnswers(address),
  });
  for (const [period, ms] of Object.entries(periods))
    await redisCommand(address, "SENTINEL", "DEBUG", period, ms);
  return { ...address, process };
}

function sentinelServers(
  nodes: readonly RedisNode[],
  sentinels: readonly RedisNode[],
  stop: () => Promise<void>,
): RedisSentinelServers {
  const masterBy = async (sentinel: RedisNode): Promise<RedisNode | undefined> => {
    const answer = await redisCommand(sentinel, "SENTINEL", "get-master-addr-by-name", name);
    const port = Number(answer.split("\n")[1]);
    return nodes.find((node) => node.port === port);
  };
  return {
    name,
    nodes,
    sentinels,
    async master() {
      const [sentinel] = sentinels;
      const master = sentinel && (await masterBy(sentinel));
      if (master === undefined) throw new Error("the sentinels have no master");
      return master;
    },
    async settled() {
      await eventually(
        async () => {
          const masters = new Set<RedisNode | undefined>();
          for (const sentinel of sentinels) {
            masters.add(await masterBy(sentinel));
            const seen = await redisCommand(sentinel, "SENTINEL", "master", name);
            const fields = seen.split("\n");
            const fieldOf = (field: string) => fields[fields.indexOf(field) + 1];
            if (fieldOf("num-other-sentinels") !== "2" || fieldOf("num-slaves") !== "2")
              return false;
            if (fieldOf("flags") !== "master") return false;
          }
          const [master] = masters;
          return masters.size === 1 && master && (await connectedReplicas(master)) === 2;
        },
        { what: "master, replicas and sentinels knowing each other", timeoutMs: 60_000 },
      );
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function connectedReplicas(node: RedisNode): Promise<number> {
  const info = await redisCommand(node, "INFO", "replication");
  return info.split("state=online").length - 1;
}
