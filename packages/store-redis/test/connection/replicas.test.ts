import { randomUUID } from "node:crypto";
import { UnknownOutcomeError } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import {
  type Address,
  privateRedis,
  type RedisServer,
  redisCommand,
  type TcpProxy,
  tcpProxy,
} from "@holdfast/testing/servers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect, type RedisConnection } from "../../src/connection/redis-connection.js";
import { singleServerKinds } from "./clients.js";
import { append, ownKey } from "./scripts.js";
import { settle } from "./settle.js";

let master: RedisServer;
let replica: RedisServer;
let proxy: TcpProxy;
beforeAll(async () => {
  master = await privateRedis({ args: ["--repl-diskless-sync-delay", "0"] });
  replica = await privateRedis({ args: ["--replicaof", `${master.host} ${master.port}`] });
  proxy = await tcpProxy(master);
  await eventually(async () => (await redisCommand(master, "WAIT", 1, 100)) === "1");
});
afterAll(async () => {
  await proxy.close();
  await replica.stop();
  await master.stop();
});

describe.each(singleServerKinds)("a write that replicas must confirm, with %s", (_, newClient) => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    replica.process.resume();
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function open(at: Address, commandTimeoutMs: number): Promise<RedisConnection> {
    const user = await newClient(at);
    const connection = connect(user.client, { commandTimeoutMs });
    ends.push(user.end, () => connection.close());
    return connection;
  }

  test("is acknowledged when they have it", async () => {
    const connection = await open(master, 5_000);
    const key = ownKey();
    const calls = Array.from({ length: 50 }, (_, at) =>
      connection.run("appending", append, [key], [at], { minReplicas: 1 }),
    );
    const { replies } = await settle(calls, 5_000);
    expect(replies).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
    expect(await redisCommand(replica, "LLEN", key)).toBe("50");
  });

  test("says how many have it when some do not, and is acknowledged when repeated later", async () => {
    const connection = await open(master, 5_000);
    const key = ownKey();
    const write = () => connection.run("appending", append, [key], ["x"], { minReplicas: 1 });
    await connection.run("appending", append, [key], ["first"], { minReplicas: 1 });
    replica.process.pause();
    const failed = write();
    await expect(failed).rejects.toSatisfy(UnknownOutcomeError.is);
    await expect(failed).rejects.toThrow("only 0 of 1 replicas confirmed it");
    await expect(write()).rejects.toSatisfy(UnknownOutcomeError.is);
    expect(await redisCommand(master, "LLEN", key)).toBe("2");
    replica.process.resume();
    await eventually(() => write());
    expect(await redisCommand(replica, "LLEN", key)).toBe("2");
  });

  test("is not acknowledged by a connection on which it was not made", async () => {
    const connection = await open(proxy, 5_000);
    const key = ownKey();
    await connection.run("appending", append, [key], ["first"], { minReplicas: 1 });
    replica.process.pause();
    const write = connection.run("appending", append, [key], ["second"], { minReplicas: 1 });
    const outcome = settle([write], 5_000);
    // The script has run and WAIT is waiting: now the connection breaks, again and again.
    for (let broken = 0; broken < 3; broken++) {
      await eventually(async () =>
        (await redisCommand(master, "CLIENT", "LIST")).includes("cmd=wait"),
      );
      proxy.reset();
    }
    const { errors } = await outcome;
    expect(errors.map(({ code }) => code)).toEqual(["UNKNOWN_OUTCOME"]);
    expect(await redisCommand(master, "LLEN", key)).toBe("2");
  });

  test("holds up no other command while replicas are waited for", async () => {
    const connection = await open(master, 10_000);
    const key = ownKey();
    replica.process.pause();
    const outcome = settle(
      [connection.run("appending", append, [key], ["x"], { minReplicas: 1 })],
      10_000,
    );
    await eventually(async () => (await redisCommand(master, "LLEN", key)) === "1");
    await connection.send("reading", "GET", [ownKey()]);
    expect(await redisCommand(master, "CLIENT", "LIST")).toContain("cmd=wait");
    replica.process.resume();
    expect((await outcome).replies).toEqual([1]);
  });

  test("is not waited for by the server once its caller has given up", async () => {
    const connection = await open(master, 500);
    const key = ownKey();
    await connection.run("appending", append, [key], ["first"]);
    replica.process.pause();
    const calls = Array.from({ length: 200 }, (_, at) =>
      connection.run("appending", append, [key], [at], { minReplicas: 1 }),
    );
    const { errors } = await settle(calls, 500);
    expect(errors.filter(UnknownOutcomeError.is)).toHaveLength(200);
    await eventually(
      async () => !(await redisCommand(master, "CLIENT", "LIST")).includes("cmd=wait"),
    );
    replica.process.resume();
    await eventually(() =>
      connection.run("appending", append, [key], ["last"], { minReplicas: 1 }),
    );
  });

  test("leaves nothing behind but what the script wrote", async () => {
    const connection = await open(master, 5_000);
    const prefix = `test:{${randomUUID()}}`;
    await connection.run("appending", append, [prefix], ["x"], { minReplicas: 1 });
    const keys = () => redisCommand(master, "KEYS", `${prefix}*`);
    await eventually(async () => (await keys()) === prefix);
  });
});
