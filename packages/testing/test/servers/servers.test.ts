import { existsSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { eventually, spawnScript } from "@holdfast/testing";
import {
  privateMariadb,
  privateRedis,
  privateRedisCluster,
  privateRedisSentinel,
  redisCommand,
  tcpProxy,
} from "@holdfast/testing/servers";
import { describe, expect, test } from "vitest";

const timeout = 120_000;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a private Redis", () => {
  test("answers, can be killed and started again, and is gone after stop", {
    timeout,
  }, async () => {
    await using redis = await privateRedis({ args: ["--appendonly", "yes"] });
    await redisCommand(redis, "SET", "key", "value");
    const directory = readlinkSync(`/proc/${redis.process.pid}/cwd`);
    await redis.process.kill9();
    await expect(redisCommand(redis, "GET", "key")).rejects.toThrow();
    await redis.process.restart();
    expect(await redisCommand(redis, "GET", "key")).toBe("value");
    const { pid } = redis.process;
    await redis.stop();
    await redis.stop();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(directory)).toBe(false);
  });

  test("goes with the process that started it, also when that is killed", { timeout }, async () => {
    const source = `
      import { privateRedis } from "@holdfast/testing/servers";
      const redis = await privateRedis();
      console.log(redis.process.pid);
      setInterval(() => {}, 1000);`;
    const script = spawnScript(source, [], { cwd: new URL("../..", import.meta.url).pathname });
    const pid = Number(await script.line((line) => /^\d+$/.test(line)));
    expect(isAlive(pid)).toBe(true);
    const directory = readlinkSync(`/proc/${pid}/cwd`);
    await script.kill9();
    await eventually(() => !isAlive(pid) && !existsSync(directory), { what: "the server's end" });
  });

  test("that asks for a password is ready, and its URL and commands have it", {
    timeout,
  }, async () => {
    await using redis = await privateRedis({ args: ["--requirepass", "p@ss word"] });
    expect(redis.url).toBe(`redis://:p%40ss%20word@${redis.host}:${redis.port}`);
    expect(await redisCommand(redis, "PING")).toBe("PONG");
    const { host, port } = redis;
    expect(await redisCommand({ host, port }, "PING")).toContain("NOAUTH");
    await redis.process.kill9();
    await redis.process.restart();
    expect(await redisCommand(redis, "PING")).toBe("PONG");
  });

  test("that does not start says why", { timeout }, async () => {
    await expect(privateRedis({ args: ["--no-such-option", "1"] })).rejects.toThrow(
      /did not start/,
    );
  });
});

test("a private cluster replaces a killed master", { timeout }, async () => {
  await using cluster = await privateRedisCluster();
  expect(await cluster.masters()).toHaveLength(3);
  const master = await cluster.masterOf("key");
  await master.process.kill9();
  await eventually(
    async () => {
      const next = await cluster.masterOf("key");
      return next !== master && (await redisCommand(next, "SET", "key", "value")) === "OK";
    },
    { timeoutMs: 30_000 },
  );
  await master.process.restart();
  await cluster.settled();
  expect(await cluster.masters()).toHaveLength(3);
});

test("sentinels replace a wedged master", { timeout }, async () => {
  await using redis = await privateRedisSentinel();
  const master = await redis.master();
  master.process.pause();
  await eventually(async () => (await redis.master()) !== master);
  master.process.resume();
  await redis.settled();
  expect(await redis.master()).not.toBe(master);
});

test("a private MariaDB greets, and does so again after a kill", { timeout }, async () => {
  await using mariadb = await privateMariadb();
  await mariadb.process.kill9();
  await mariadb.process.restart();
  expect(mariadb.url).toContain(String(mariadb.port));
});

describe("a proxy", () => {
  async function through(proxy: { readonly host: string; readonly port: number }) {
    const socket = connect(proxy.port, proxy.host);
    let received = "";
    let isOpen = true;
    socket.on("data", (data) => {
      received += data.toString();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      isOpen = false;
    });
    return {
      ask: (text: string) => void socket.write(`${text}\r\n`),
      got: (text: string) => eventually(() => received.includes(text), { what: text }),
      ended: () => eventually(() => !isOpen, { what: "the connection's end" }),
      received: () => received,
      end: () => void socket.destroy(),
    };
  }

  test("passes, holds, drops and kills as told", { timeout }, async () => {
    await using redis = await privateRedis();
    await using proxy = await tcpProxy(redis);
    const first = await through(proxy);
    first.ask("SET a 1");
    await first.got("+OK");
    expect([proxy.bytesUp, proxy.bytesDown]).toEqual([9, 5]);

    proxy.mode = "hold";
    first.ask("SET b 1");
    proxy.mode = "pass";
    await first.got("+OK\r\n+OK");

    proxy.mode = "drop-replies";
    first.ask("SET c 1");
    await eventually(async () => (await redisCommand(redis, "GET", "c")) === "1");
    expect(first.received()).toBe("+OK\r\n+OK\r\n");
    proxy.mode = "kill-on-reply";
    // The lost reply may still be on its way through the first one.
    const killed = await through(proxy);
    killed.ask("SET d 1");
    await killed.ended();
    expect(await redisCommand(redis, "GET", "d")).toBe("1");

    proxy.mode = "pass";
    proxy.losesReply = (request) => request.includes("SET e");
    const second = await through(proxy);
    second.ask("SET f 1");
    await second.got("+OK");
    second.ask("SET e 1");
    await second.ended();
    expect(await redisCommand(redis, "GET", "e")).toBe("1");

    const third = await through(proxy);
    third.ask("PING");
    await third.got("PONG");
    proxy.reset();
    await third.ended();
    await eventually(() => proxy.connections === 0);
  });

  test("holds everything up by its delay, in order", { timeout }, async () => {
    await using redis = await privateRedis();
    await using proxy = await tcpProxy(redis);
    const slow = await through(proxy);
    const delayMs = 200;
    proxy.delayMs = delayMs;
    const began = performance.now();
    slow.ask("ECHO one");
    await slow.got("one");
    expect(performance.now() - began).toBeGreaterThanOrEqual(2 * delayMs - 10);

    slow.ask("ECHO two");
    await eventually(() => proxy.bytesUp === 20);
    proxy.delayMs = 0;
    slow.ask("ECHO three");
    await slow.got("three");
    expect(slow.received().indexOf("two")).toBeLessThan(slow.received().indexOf("three"));
  });
});
