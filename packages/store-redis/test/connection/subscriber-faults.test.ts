import { privateRedis, type RedisServer, type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect, type RedisConnection } from "../../src/connection/redis-connection.js";
import { singleServerKinds } from "./clients.js";
import { settle } from "./settle.js";

const deadlineMs = 1_500;

let server: RedisServer;
let proxy: TcpProxy;
beforeAll(async () => {
  server = await privateRedis();
  proxy = await tcpProxy(server);
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

describe.each(singleServerKinds)("with %s", (_, newClient) => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    proxy.mode = "pass";
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function open(): Promise<RedisConnection> {
    const user = await newClient(proxy);
    const connection = connect(user.client, { commandTimeoutMs: deadlineMs });
    ends.push(user.end, () => connection.close());
    return connection;
  }

  test("subscribers are told of a gap when the connection broke, and hear again", async () => {
    const connection = await open();
    const heard: string[] = [];
    await connection.subscribe("gap", {
      onMessage: (text) => heard.push(text),
      onGap: () => heard.push("gap"),
    });
    proxy.reset();
    await expect.poll(() => heard, { timeout: 60_000 }).toEqual(["gap"]);
    await connection.send("publishing", "PUBLISH", ["gap", "hello"]);
    await expect.poll(() => heard, { timeout: 60_000 }).toEqual(["gap", "hello"]);
  });

  test("a subscriber notices that its server is wedged, and is told of the gap", async () => {
    const connection = await open();
    const heard: string[] = [];
    await connection.subscribe("wedged", {
      onMessage: (text) => heard.push(text),
      onGap: () => heard.push("gap"),
    });
    proxy.mode = "hold";
    await expect.poll(() => proxy.connections, { timeout: 300_000 }).toBeGreaterThan(2);
    proxy.mode = "pass";
    await expect.poll(() => heard, { timeout: 60_000 }).toContain("gap");
    await connection.send("publishing", "PUBLISH", ["wedged", "hello"]);
    await expect.poll(() => heard.at(-1), { timeout: 60_000 }).toBe("hello");
  });

  test("a subscription on a server that does not answer fails in time", async () => {
    const connection = await open();
    proxy.mode = "hold";
    const calls = [connection.subscribe("late", { onMessage() {}, onGap() {} })];
    const { errors } = await settle(calls, deadlineMs);
    expect(errors.map(({ code }) => code)).toEqual(["UNAVAILABLE"]);
  });
});
