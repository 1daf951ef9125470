import { randomUUID } from "node:crypto";
import { StoreUnavailableError } from "@holdfast/core";
import { eventually } from "@holdfast/testing";
import { type Address, redisCommand } from "@holdfast/testing/servers";
import { afterEach, describe, expect, test } from "vitest";
import { connect, type RedisConnection } from "../../src/connection/redis-connection.js";
import type { UserClient } from "./clients.js";
import { append, echo, ownKey } from "./scripts.js";

/** Where a kind of client finds its servers. */
export interface ConnectionFixture {
  newClient(): UserClient | Promise<UserClient>;
  /** Every server that may hold keys. */
  nodes(): readonly Address[];
}

/** What every kind of client must be able to do. */
export function describeConnection(name: string, fixture: ConnectionFixture): void {
  describe(`a connection made from ${name}`, () => {
    const ends: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const end of ends.splice(0)) await end();
    });

    async function open(): Promise<{ user: UserClient; connection: RedisConnection }> {
      const user = await fixture.newClient();
      const connection = connect(user.client, { commandTimeoutMs: 5_000 });
      ends.push(() => connection.close(), user.end);
      return { user, connection };
    }

    test("runs a script on its keys and arguments and gives back its reply", async () => {
      const { connection } = await open();
      const keys = ["{a}1", "{a}2"];
      const reply = await connection.run("echoing", echo, keys, ["ä\n\0", 7, ""]);
      expect(reply).toEqual(["{a}1", "{a}2", "ä\n\0", 7, null, ["", []]]);
    });

    test("sends plain commands and gives back strings, numbers, null and lists", async () => {
      const { connection } = await open();
      const key = ownKey();
      expect(await connection.send("reading", "GET", [key])).toBeNull();
      expect(await connection.send("writing", "HSET", [key, "a", 1, "b", "x"])).toBe(2);
      expect(await connection.send("reading", "HGETALL", [key])).toEqual(["a", "1", "b", "x"]);
      expect(await connection.send("reading", "HMGET", [key, "b", "c"])).toEqual(["x", null]);
    });

    test("runs scripts again after the server forgot them", async () => {
      const { connection } = await open();
      const key = ownKey();
      await connection.run("appending", append, [key], [1]);
      for (const node of fixture.nodes()) await redisCommand(node, "SCRIPT", "FLUSH");
      expect(await connection.run("appending", append, [key], [2])).toBe(2);
    });

    test("writes commands in the order in which they were given, from the first one on", async () => {
      const { connection } = await open();
      const key = ownKey();
      const numbers = Array.from({ length: 200 }, (_, at) => String(at));
      await Promise.all(numbers.map((at) => connection.run("appending", append, [key], [at])));
      expect(await connection.send("reading", "LRANGE", [key, 0, -1])).toEqual(numbers);
      const more = numbers.map((at) => `again ${at}`);
      await Promise.all(
        more.map((text, at) =>
          at % 2 === 0
            ? connection.run("appending", append, [key], [text])
            : connection.send("appending", "RPUSH", [key, text], { writes: true }),
        ),
      );
      const all = await connection.send("reading", "LRANGE", [key, 0, -1]);
      expect(all).toEqual([...numbers, ...more]);
    });

    test("brings messages to every subscriber of their channel, until it ends its subscription", async () => {
      const { connection } = await open();
      const channel = `test:${randomUUID()}`;
      const heard: [string, string][] = [];
      const subscribe = (name: string, to: string) =>
        connection.subscribe(to, {
          onMessage: (text) => heard.push([name, text]),
          onGap: () => heard.push([name, "gap"]),
        });
      const first = await subscribe("first", channel);
      await subscribe("second", channel);
      await subscribe("other", `${channel}:other`);
      const publish = (text: string) => connection.send("publishing", "PUBLISH", [channel, text]);
      await publish("one");
      await eventually(() => heard.length === 2);
      await first.close();
      await first.close();
      await publish("two ä\n");
      await eventually(() => heard.length === 3);
      expect(heard).toEqual([
        ["first", "one"],
        ["second", "one"],
        ["second", "two ä\n"],
      ]);
    });

    test("fails after its close, and leaves others of the same client alone", async () => {
      const { user, connection } = await open();
      const other = connect(user.client, { commandTimeoutMs: 5_000 });
      await connection.close();
      await connection.close();
      const fails = [
        connection.send("reading", "GET", ["a"]),
        connection.run("appending", append, ["a"], [1]),
        connection.subscribe("a", { onMessage() {}, onGap() {} }),
      ];
      for (const failed of fails) await expect(failed).rejects.toSatisfy(StoreUnavailableError.is);
      expect(await other.send("reading", "GET", [ownKey()])).toBeNull();
      await other.close();
      await expect(other.send("reading", "GET", ["a"])).rejects.toThrow("was closed");
      const again = connect(user.client, { commandTimeoutMs: 5_000 });
      expect(await again.send("reading", "GET", [ownKey()])).toBeNull();
      await again.close();
    });

    test("ends all its sockets with the client of the caller", async () => {
      const before = await clientCount(fixture.nodes());
      const { user, connection } = await open();
      await connection.run("appending", append, [ownKey()], [1]);
      await connection.subscribe(`test:${randomUUID()}`, { onMessage() {}, onGap() {} });
      expect(await clientCount(fixture.nodes())).toBeGreaterThan(before);
      await user.end();
      await eventually(async () => (await clientCount(fixture.nodes())) <= before);
      const after = connection.send("reading", "GET", ["a"]);
      await expect(after).rejects.toSatisfy(StoreUnavailableError.is);
      await expect(after).rejects.toThrow("has ended");
    });
  });
}

async function clientCount(nodes: readonly Address[]): Promise<number> {
  const lists = await Promise.all(
    nodes.map((node) => redisCommand(node, "CLIENT", "LIST", "TYPE", "normal")),
  );
  const pubsub = await Promise.all(
    nodes.map((node) => redisCommand(node, "CLIENT", "LIST", "TYPE", "pubsub")),
  );
  return [...lists, ...pubsub].flatMap((list) => list.split("\n").filter(Boolean)).length;
}
