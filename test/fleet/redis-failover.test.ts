import type { DistributedStore } from "@holdfast/core";
import { slotKey } from "@holdfast/core/store-kit";
import { eventually, scaled } from "@holdfast/testing";
import {
  privateRedisCluster,
  privateRedisSentinel,
  type RedisNode,
  redisCommand,
} from "@holdfast/testing/servers";
import { describe, expect, onTestFinished, test } from "vitest";
import { codesOf, lossesOf } from "./check-turns.js";
import { freshPrefix } from "./choices.js";
import { echoAgent } from "./echo-agent.mjs";
import { openStore, type StoreChoice } from "./open-store.mjs";
import { transcript } from "./transcript.js";
import { type TurnLoad, turnLoad } from "./turn-load.js";

const timeout = 300_000;
const rounds = scaled(1, 10);
/** Commands give up long before leases do, and a wedged master is noticed by that. */
const limits = { leaseMs: 6_000, commandTimeoutMs: 3_000 };
/** What a call may end with while its store has an outage. */
const outageCodes = ["CONFLICT", "LEASE_LOST", "UNAVAILABLE", "UNKNOWN_OUTCOME"];

/** A replicated Redis, whichever keeps it alive. */
interface Fleet {
  readonly choice: StoreChoice;
  /** The master that serves most of the load, or part of it. */
  master(): Promise<RedisNode>;
  /** Another node took its place. */
  replaced(master: RedisNode): Promise<boolean>;
  /** Everything is whole again. */
  settled(): Promise<void>;
  replicasOf(master: RedisNode): Promise<readonly RedisNode[]>;
}

async function cluster(options: Partial<StoreChoice>): Promise<Fleet> {
  const servers = await privateRedisCluster();
  onTestFinished(() => servers.stop());
  const choice: StoreChoice = {
    kind: "redis-cluster",
    nodes: servers.nodes.map(({ host, port }) => ({ host, port })),
    prefix: freshPrefix(),
    ...options,
  };
  const key = `${choice.prefix}v1:{${slotKey({ agentId: "echo", userId: "u", sessionId: "s-0" })}}:state`;
  return {
    choice,
    master: () => servers.masterOf(key),
    replaced: async (master) => (await servers.masterOf(key)) !== master,
    settled: () => servers.settled(),
    replicasOf: async (master) => replicasAmong(servers.nodes, master),
  };
}

async function sentinel(options: Partial<StoreChoice>): Promise<Fleet> {
  const servers = await privateRedisSentinel();
  onTestFinished(() => servers.stop());
  return {
    choice: {
      kind: "redis-sentinel",
      nodes: servers.sentinels.map(({ host, port }) => ({ host, port })),
      name: servers.name,
      prefix: freshPrefix(),
      ...options,
    },
    master: () => servers.master(),
    replaced: async (master) => (await servers.master()) !== master,
    settled: () => servers.settled(),
    replicasOf: async (master) => replicasAmong(servers.nodes, master),
  };
}

async function replicasAmong(
  nodes: readonly RedisNode[],
  master: RedisNode,
): Promise<readonly RedisNode[]> {
  const role = await redisCommand(master, "ROLE");
  return nodes.filter((node) => node !== master && role.includes(String(node.port)));
}

const topologies = { cluster, sentinel };
/**
 * With fewer than all, a replica that lacks a write may be elected; or an old master that comes back goes on acknowledging
 * with a replica that was not told yet.
 */
const replicasPerMaster = { cluster: 1, sentinel: 2 };
const faults = {
  "is killed": async (master: RedisNode) => {
    await master.process.kill9();
    return () => master.process.restart();
  },
  "is wedged": async (master: RedisNode) => {
    master.process.pause();
    return async () => master.process.resume();
  },
};

const everyTopology = ["cluster", "sentinel"] as const;
const everyFault = everyTopology.flatMap((topology) =>
  (["is killed", "is wedged"] as const).map((fault) => [topology, fault] as const),
);

/** Keeps sessions busy while their master fails and is replaced, until turns are acknowledged again. */
async function underLoad(
  fleet: Fleet,
  store: DistributedStore,
  fault: keyof typeof faults,
  name: string,
): Promise<TurnLoad> {
  const load = turnLoad(store, 12, name);
  onTestFinished(() => load.close());
  await eventually(() => load.acknowledged() >= 60);
  const master = await fleet.master();
  const mend = await faults[fault](master);
  await eventually(() => fleet.replaced(master));
  await mend();
  const before = load.acknowledged();
  await eventually(() => load.acknowledged() >= before + 60, {
    timeoutMs: 90_000,
    what: "turns being acknowledged again",
  });
  await load.stop();
  await fleet.settled();
  return load;
}

describe("a master", () => {
  test.each(
    scaled(
      [
        ["cluster", "is killed"],
        ["sentinel", "is wedged"],
      ],
      everyFault,
    ),
  )(
    "of a %s that %s under load loses no turn acknowledged by all replicas, and every call ends",
    { timeout: timeout * rounds },
    async (topology, fault) => {
      const minReplicas = replicasPerMaster[topology];
      const fleet = await topologies[topology]({ minReplicas, ...limits });
      const { store, close } = openStore(fleet.choice);
      onTestFinished(close);
      for (let round = 0; round < rounds; round++) {
        const load = await underLoad(fleet, store, fault, `round-${round}`);
        expect(outageCodes).toEqual(expect.arrayContaining(codesOf(load)));
        expect(await lossesOf(store, load)).toEqual(new Map());
      }
    },
  );

  test.each(scaled(["sentinel"], everyTopology))(
    "of a %s that is wedged under load may lose turns no replica confirmed, and the next call says so",
    {
      timeout: timeout * rounds,
    },
    async (topology) => {
      const fleet = await topologies[topology](limits);
      const { store, close } = openStore(fleet.choice);
      onTestFinished(close);
      for (let round = 0; round < rounds; round++) {
        const load = await underLoad(fleet, store, "is wedged", `round-${round}`);
        const lost = [...(await lossesOf(store, load)).keys()];
        // A master that comes back may have gone on for a moment, and it is the next call that finds its work gone.
        for (const sessionId of lost) await load.askAgain(sessionId);
        const told = new Set(load.events.map(({ slot }) => slot.sessionId));
        expect(lost.filter((sessionId) => !told.has(sessionId))).toEqual([]);
      }
    },
  );

  test.each(scaled(["cluster"], everyTopology))(
    "of a %s that dies with saves no replica had: the loss is reported, never hidden",
    {
      timeout,
    },
    async (topology) => {
      const fleet = await topologies[topology]({ leaseMs: 4_000 });
      const { store, close } = openStore(fleet.choice);
      onTestFinished(close);
      const events: string[] = [];
      const agent = echoAgent(store, {
        saveDeadlineMs: 20_000,
        onEvent: ({ type }) => void events.push(type),
      });
      onTestFinished(() => agent.close());
      const session = { userId: "u", sessionId: "s-0" };
      const slot = { agentId: "echo", ...session };
      await agent.call("kept", session);
      const master = await fleet.master();
      const replicas = await fleet.replicasOf(master);
      // By offset: WAIT speaks only of writes of its own connection.
      const written = await replicationOffset(master);
      await eventually(async () => {
        const offsets = await Promise.all(replicas.map(replicationOffset));
        return offsets.every((offset) => offset >= written);
      });
      for (const replica of replicas) replica.process.pause();
      // Otherwise what is said now would wait for them in their sockets.
      await redisCommand(master, "CLIENT", "KILL", "TYPE", "replica");
      // Acknowledged by a master whose replicas hear nothing of it any more.
      expect((await agent.call("lost", session)).text).toBe("re: lost");
      await master.process.kill9();
      for (const replica of replicas) replica.process.resume();
      await eventually(() => fleet.replaced(master));
      expect(events).not.toContain("store_rolled_back");
      await eventually(
        async () => {
          await agent.call("after", session);
          return true;
        },
        { timeoutMs: 60_000, what: "a call after the failover" },
      );
      const { context } = await transcript(store, slot);
      expect(context.slice(0, 2)).toEqual(["kept", "re: kept"]);
      expect(context).not.toContain("lost");
      expect(events).toContain("store_rolled_back");
    },
  );
});

async function replicationOffset(node: Parameters<typeof redisCommand>[0]): Promise<number> {
  const info = String(await redisCommand(node, "INFO", "replication"));
  const field = info.includes("role:slave") ? "slave_repl_offset" : "master_repl_offset";
  return Number(new RegExp(`${field}:(\\d+)`).exec(info)?.[1]);
}
