import { eventually } from "@holdfast/testing";
import { privateRedisSentinel, type RedisSentinelServers } from "@holdfast/testing/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/connection/redis-connection.js";
import { ioredisSentinel } from "./clients.js";
import { describeConnection } from "./connection-suite.js";
import { checkList, startWriter } from "./failover.js";
import { ownKey } from "./scripts.js";

let servers: RedisSentinelServers;
beforeAll(async () => {
  servers = await privateRedisSentinel();
});
afterAll(() => servers.stop());

describeConnection("an ioredis client with sentinels", {
  newClient: () => ioredisSentinel(servers.sentinels, servers.name),
  nodes: () => servers.nodes,
});

type Node = RedisSentinelServers["nodes"][number];

test.each([
  ["is killed", (node: Node) => node.process.kill9(), (node: Node) => node.process.restart()],
  ["is wedged", (node: Node) => node.process.pause(), (node: Node) => node.process.resume()],
])("when the master %s, writes end in time and go on with the new one", async (_, fail, heal) => {
  const user = ioredisSentinel(servers.sentinels, servers.name);
  const connection = connect(user.client, { commandTimeoutMs: 3_000 });
  const key = ownKey();
  const safe = startWriter(connection, key, 2);
  const plain = startWriter(connection, `${key}:plain`, 0);
  const heard: string[] = [];
  await connection.subscribe(key, {
    onMessage: (text) => heard.push(text),
    onGap: () => heard.push("gap"),
  });
  await eventually(() => safe.acknowledged.length > 20 && plain.acknowledged.length > 20);
  const master = await servers.master();
  await fail(master);
  await eventually(async () => (await servers.master()) !== master);
  const before = plain.acknowledged.length;
  await eventually(() => plain.acknowledged.length > before + 20);
  await heal(master);
  await servers.settled();
  await Promise.all([safe.stop(), plain.stop()]);
  await checkList(connection, key, safe);
  expect(heard).toContain("gap");
  await connection.send("publishing", "PUBLISH", [key, "hello"]);
  await eventually(() => heard.at(-1) === "hello");
  await connection.close();
  await user.end();
});

test("a silent sentinel does not keep anybody from the master", async () => {
  const [first] = servers.sentinels;
  first?.process.pause();
  try {
    const user = ioredisSentinel(servers.sentinels, servers.name);
    const connection = connect(user.client, { commandTimeoutMs: 3_000 });
    expect(await connection.send("reading", "GET", [ownKey()])).toBeNull();
    await connection.close();
    await user.end();
  } finally {
    first?.process.resume();
  }
});
