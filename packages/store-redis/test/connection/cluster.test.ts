import { StoreUnavailableError, textOf, UnknownOutcomeError } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { eventually } from "@holdfast/testing";
import {
  privateRedisCluster,
  type RedisClusterServers,
  redisCommand,
} from "@holdfast/testing/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/connection/redis-connection.js";
import { partKey } from "../../src/keys.js";
import { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { markRecord, messageRecord } from "../log/sample-records.js";
import { ownPrefix } from "../state/servers.js";
import { firstWrite, nextWrite, slot } from "../state/stores.js";
import { ioredisCluster } from "./clients.js";
import { describeConnection } from "./connection-suite.js";
import { checkList, startWriter } from "./failover.js";
import { append, ownKey } from "./scripts.js";
import { settle } from "./settle.js";

let cluster: RedisClusterServers;
beforeAll(async () => {
  cluster = await privateRedisCluster();
});
afterAll(() => cluster.stop());

describeConnection("an ioredis Cluster", {
  newClient: () => ioredisCluster(cluster.nodes),
  nodes: () => cluster.nodes,
});

test("a write is confirmed by the replica of the node it was made on", async () => {
  const user = ioredisCluster(cluster.nodes);
  const connection = connect(user.client, { commandTimeoutMs: 5_000 });
  const calls = Array.from({ length: 60 }, () =>
    connection.run("appending", append, [ownKey()], ["x"], { minReplicas: 1 }),
  );
  const { errors, replies } = await settle(calls, 5_000);
  expect(errors).toEqual([]);
  expect(replies).toHaveLength(60);
  const tooMany = connection.run("appending", append, [ownKey()], ["x"], {
    minReplicas: 2,
    // A fifth of it is left for the answer to come back, on a busy machine too.
    deadlineMs: 5_000,
  });
  await expect(tooMany).rejects.toThrow("only 1 of 2 replicas confirmed it");
  await connection.close();
  await user.end();
});

test.each([
  ["is killed", (node: Node) => node.process.kill9(), (node: Node) => node.process.restart()],
  ["is wedged", (node: Node) => node.process.pause(), (node: Node) => node.process.resume()],
])(
  "when the master of a slot %s, writes end in time and go on with its replica",
  async (_, fail, heal) => {
    const user = ioredisCluster(cluster.nodes);
    const connection = connect(user.client, { commandTimeoutMs: 3_000 });
    const [key, otherKey] = await keysOnTwoMasters();
    const writer = startWriter(connection, key, 1);
    const other = startWriter(connection, otherKey, 1);
    const plain = startWriter(connection, `${key}:plain`, 0);
    await eventually(() => writer.acknowledged.length > 20 && other.acknowledged.length > 20);
    const master = await cluster.masterOf(key);
    await fail(master);
    const before = plain.acknowledged.length;
    await eventually(() => plain.acknowledged.length > before + 20);
    await heal(master);
    await cluster.settled();
    await Promise.all([writer.stop(), other.stop(), plain.stop()]);
    await checkList(connection, key, writer);
    await checkList(connection, otherKey, other);
    await connection.close();
    await user.end();
  },
);

test("writes follow their slot to another node", async () => {
  const user = ioredisCluster(cluster.nodes);
  const connection = connect(user.client, { commandTimeoutMs: 5_000 });
  const key = ownKey();
  const writers = [
    startWriter(connection, key, 1),
    startWriter(connection, `${key}:plain`, 0),
  ] as const;
  await eventually(() => writers.every(({ acknowledged }) => acknowledged.length > 20));
  const from = await cluster.masterOf(key);
  const to = (await cluster.masters()).find(({ port }) => port !== from.port) as Node;
  await moveSlot(key, from, to);
  for (const writer of writers) {
    const before = writer.acknowledged.length;
    await eventually(() => writer.acknowledged.length > before + 20);
  }
  await Promise.all(writers.map((writer) => writer.stop()));
  expect((await cluster.masterOf(key)).port).toBe(to.port);
  await checkList(connection, key, writers[0]);
  await checkList(connection, `${key}:plain`, writers[1]);
  await connection.close();
  await user.end();
});

test("turns on a session whose slot is moving, key by key, are made whole or not at all", async () => {
  const user = ioredisCluster(cluster.nodes);
  const keyPrefix = ownPrefix();
  const { client } = user;
  const store = new RedisAgentStateStore({ client, keyPrefix, commandTimeoutMs: 400 });
  const said: string[] = [];
  const unknown: string[] = [];
  let turns = 0;
  const turn = async (): Promise<boolean> => {
    const text = `turn ${turns++}`;
    try {
      const loaded = await loadWhole(store, slot);
      const write = loaded === null ? firstWrite([text]) : nextWrite(loaded, [text]);
      const log = write.append.map((message) => messageRecord(message));
      await store.save(slot, { ...write, log: [...log, markRecord({ name: "note" })] });
      said.push(text);
      return true;
    } catch (error) {
      // The keys are moving, and nothing was written; or this machine is slow.
      if (UnknownOutcomeError.is(error)) unknown.push(text);
      else if (!StoreUnavailableError.is(error)) throw error;
      return false;
    }
  };
  await eventually(turn);
  const key = partKey(keyPrefix, slot, "state");
  const from = await cluster.masterOf(key);
  const to = (await cluster.masters()).find(({ port }) => port !== from.port) as Node;
  const whileMoving: boolean[] = [];
  await moveSlot(key, from, to, 1, async () => void whileMoving.push(await turn()));
  expect(whileMoving).toContain(false);
  await eventually(turn);
  await eventually(async () => {
    const saved = ((await loadWhole(store, slot))?.messages ?? []).map(textOf);
    expect(saved.filter((text) => !unknown.includes(text))).toEqual(said);
    const logged = (await store.fuses.log.read(slot)).flatMap(({ message }) => message ?? []);
    expect(logged.map(textOf)).toEqual(saved);
    return true;
  });
  await store.close();
  await user.end();
});

type Node = RedisClusterServers["nodes"][number];

async function keysOnTwoMasters(): Promise<[string, string]> {
  const key = ownKey();
  const { port } = await cluster.masterOf(key);
  for (;;) {
    const other = ownKey();
    if ((await cluster.masterOf(other)).port !== port) return [key, other];
  }
}

/** As an operator's tool does it: both sides are told, the keys go over, then everybody learns the new owner. */
async function moveSlot(
  key: string,
  from: Node,
  to: Node,
  atOnce = 10,
  between = async () => {},
): Promise<void> {
  const slot = await redisCommand(from, "CLUSTER", "KEYSLOT", key);
  const fromId = await redisCommand(from, "CLUSTER", "MYID");
  const toId = await redisCommand(to, "CLUSTER", "MYID");
  await redisCommand(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", fromId);
  await redisCommand(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", toId);
  for (;;) {
    const keys = await redisCommand(from, "CLUSTER", "GETKEYSINSLOT", slot, atOnce);
    if (keys === "") break;
    await between();
    await redisCommand(
      from,
      "MIGRATE",
      to.host,
      to.port,
      "",
      0,
      5_000,
      "KEYS",
      ...keys.split("\n"),
    );
  }
  for (const node of [to, ...(await cluster.masters())])
    await redisCommand(node, "CLUSTER", "SETSLOT", slot, "NODE", toId);
}
