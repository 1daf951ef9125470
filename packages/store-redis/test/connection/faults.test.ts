import { inspect } from "node:util";
import { StoreUnavailableError, UnknownOutcomeError } from "@holdfast/core";
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
import { ioredis, nodeRedisRecipe, singleServerKinds, type UserClient } from "./clients.js";
import { append, ownKey } from "./scripts.js";
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

describe.each(singleServerKinds)("with %s", (kind, newClient) => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    proxy.mode = "pass";
    proxy.losesReply = undefined;
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function open(at: Address = server, options?: object): Promise<RedisConnection> {
    const user = await newClient(at, options);
    const connection = connect(user.client, { commandTimeoutMs: deadlineMs });
    ends.push(user.end, () => connection.close());
    return connection;
  }

  function reads(connection: RedisConnection, count = 50): Promise<unknown>[] {
    return Array.from({ length: count }, () => connection.send("reading", "GET", [ownKey()]));
  }

  function writes(connection: RedisConnection, key: string, count = 50): Promise<unknown>[] {
    return Array.from({ length: count }, (_, at) =>
      connection.run("appending", append, [key], [at]),
    );
  }

  test("calls on a wedged server end in time, and all is well once it goes on", async () => {
    const connection = await open();
    const key = ownKey();
    await connection.run("appending", append, [key], ["first"]);
    server.process.pause();
    try {
      const read = await settle(reads(connection), deadlineMs);
      expect(read.errors.filter(StoreUnavailableError.is)).toHaveLength(50);
      const written = await settle(writes(connection, key), deadlineMs);
      // node-redis 5 asks the server something before it takes commands, so that none of them was sent.
      const expected = kind === "node-redis 5" ? StoreUnavailableError : UnknownOutcomeError;
      expect(written.errors.filter(expected.is)).toHaveLength(50);
    } finally {
      server.process.resume();
    }
    const { replies } = await settle(writes(connection, key), deadlineMs);
    expect(replies).toHaveLength(50);
    expect(await connection.send("counting", "LLEN", [key])).toBe(51);
  });

  test("calls into a dead network end in time, and all is well once it is back", async () => {
    const connection = await open(proxy);
    const key = ownKey();
    await connection.run("appending", append, [key], ["first"]);
    proxy.mode = "hold";
    const before = proxy.connections;
    const outcome = settle([...reads(connection), ...writes(connection, key)], deadlineMs);
    // The silent connection is given up in time to try another one.
    await expect.poll(() => proxy.connections, { timeout: 60_000 }).toBeGreaterThan(before);
    const { errors } = await outcome;
    expect(errors.filter(StoreUnavailableError.is)).toHaveLength(50);
    expect(errors.filter(UnknownOutcomeError.is)).toHaveLength(50);
    proxy.mode = "pass";
    const { replies } = await settle(writes(connection, key), deadlineMs);
    expect(replies).toHaveLength(50);
    expect(await connection.send("counting", "LLEN", [key])).toBe(51);
  });

  test("a write nobody answers to may have been applied, a read is just unavailable", async () => {
    const connection = await open(proxy);
    const key = ownKey();
    await connection.run("appending", append, [key], ["first"]);
    proxy.mode = "drop-replies";
    const [written, read] = await Promise.allSettled([
      connection.run("appending", append, [key], ["second"]),
      connection.send("reading", "GET", [key]),
    ]);
    expect(written).toMatchObject({ status: "rejected", reason: { code: "UNKNOWN_OUTCOME" } });
    expect(read).toMatchObject({ status: "rejected", reason: { code: "UNAVAILABLE" } });
    expect(await redisCommand(server, "LRANGE", key, 0, -1)).toBe("first\nsecond");
  });

  test("a write whose reply was lost is repeated and counts once", async () => {
    const connection = await open(proxy);
    const key = ownKey();
    await connection.run("appending", append, [key], ["first"]);
    let isLost = false;
    proxy.losesReply = (request) => {
      const lose = !isLost && request.includes("second");
      isLost ||= lose;
      return lose;
    };
    expect(await connection.run("appending", append, [key], ["second"])).toBe(2);
    expect(isLost).toBe(true);
    expect(await redisCommand(server, "LRANGE", key, 0, -1)).toBe("first\nsecond");
  });

  test("a write whose reply was lost stays unknown when the server cannot be reached after that", async () => {
    const gone = await tcpProxy(server);
    const connection = await open(gone);
    const key = ownKey();
    await connection.run("appending", append, [key], ["first"]);
    gone.mode = "drop-replies";
    const written = connection.run("appending", append, [key], ["second"]);
    await eventually(async () => (await redisCommand(server, "LLEN", key)) === "2");
    await gone.close();
    await expect(written).rejects.toSatisfy(UnknownOutcomeError.is);
    expect(await redisCommand(server, "LRANGE", key, 0, -1)).toBe("first\nsecond");
  });

  test("a server that has become a replica is left for a new connection", async () => {
    await using demoted = await privateRedis();
    const connection = await open(demoted);
    const key = ownKey();
    const before = await connection.send("asking", "CLIENT", ["ID"]);
    await redisCommand(demoted, "REPLICAOF", server.host, server.port);
    const { errors } = await settle(writes(connection, key), deadlineMs);
    expect(errors).toHaveLength(50);
    // What was under way when the connection was left got no answer of its own.
    const refused = errors.filter(StoreUnavailableError.is);
    expect(refused[0]?.message).toContain("appending failed: Redis answered READONLY");
    expect(await connection.send("asking", "CLIENT", ["ID"])).not.toBe(before);
    await redisCommand(demoted, "REPLICAOF", "NO", "ONE");
    expect((await settle(writes(connection, key), deadlineMs)).replies).toHaveLength(50);
  });

  test("where nobody listens, a write was certainly not applied", async () => {
    const gone = await tcpProxy(server);
    const connection = await open(gone);
    await gone.close();
    const { errors } = await settle(
      [...writes(connection, ownKey()), ...reads(connection)],
      deadlineMs,
    );
    expect(errors.filter(StoreUnavailableError.is)).toHaveLength(100);
    expect(errors[0]?.message).toContain("appending failed: no connection to Redis (ECONNREFUSED)");
  });

  test("calls made while the server is down succeed when it is back in time", async () => {
    await using mortal = await privateRedis();
    const user = await newClient(mortal);
    const connection = connect(user.client, { commandTimeoutMs: 20_000 });
    ends.push(user.end, () => connection.close());
    const key = ownKey();
    await connection.run("appending", append, [key], ["lost with the server"]);
    await mortal.process.kill9();
    const calls = writes(connection, key);
    await mortal.process.restart();
    const { replies } = await settle(calls, 20_000);
    expect(replies).toHaveLength(50);
    expect(await connection.send("counting", "LLEN", [key])).toBe(50);
  });

  test("errors show neither keys nor arguments nor passwords, and say what to check", async () => {
    const secret = "s3cr3t-canary";
    await using guarded = await privateRedis();
    await redisCommand(guarded, "CONFIG", "SET", "requirepass", `${secret}-right`);
    const wrong = connect(clientWith(guarded, `${secret}-wrong`).client, {
      commandTimeoutMs: deadlineMs,
    });
    const right = connect(clientWith(guarded, `${secret}-right`).client, {
      commandTimeoutMs: deadlineMs,
    });
    ends.push(
      () => wrong.close(),
      () => right.close(),
    );
    const key = `{${secret}}:key`;
    await right.send("writing", "SET", [key, secret]);
    const calls = [
      wrong.run("appending", append, [key], [secret]),
      wrong.subscribe(secret, { onMessage() {}, onGap() {} }),
      right.run("appending", append, [key], [secret]),
      right.send("asking", "NOSUCHCOMMAND", [key, secret]),
    ];
    const { errors } = await settle(calls, deadlineMs);
    for (const error of errors) expect(inspect(error, { depth: 10 })).not.toContain(secret);
    const messages = errors.map(({ message }) => message).sort();
    expect(messages).toEqual([
      "appending failed: Redis answered WRONGPASS; check the client's username and password",
      expect.stringMatching(/^appending failed: Redis answered (ERR|WRONGTYPE); /),
      "asking failed: Redis answered ERR; see the server's log",
      "subscribing to a channel failed: Redis answered WRONGPASS; check the client's username and password",
    ]);
    const stuck = await open();
    server.process.pause();
    try {
      const late = await settle([stuck.run("appending", append, [key], [secret])], deadlineMs);
      expect(inspect(late.errors, { depth: 10 })).not.toContain(secret);
    } finally {
      server.process.resume();
    }
  });

  function clientWith(at: Address, password: string): UserClient {
    // A client with a wrong password never gets connected; as a recipe it will do.
    const user =
      newClient === ioredis
        ? ioredis(at, { password, lazyConnect: true })
        : nodeRedisRecipe(at, { password });
    ends.push(user.end);
    return user;
  }
});
