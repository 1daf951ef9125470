import { inspect } from "node:util";
import { StateConflictError, UnknownOutcomeError } from "@holdfast/core";
import { MysqlKeyValueStore } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "../log/fresh-tables.js";

const namespace = ["test", "values"];
const pool = testPool();
let prefix: string;
let store: MysqlKeyValueStore;

beforeEach(() => {
  prefix = freshPrefix();
  store = new MysqlKeyValueStore({ pool, tablePrefix: prefix });
});
afterEach(() => dropTables(pool, prefix));

test("a put whose answer was lost recognises itself, on every condition", async () => {
  await using network = await proxiedPool();
  const far = new MysqlKeyValueStore({ pool: network.pool, tablePrefix: prefix });
  const lose = (text: string) => {
    network.proxy.losesReply = (request) => {
      const isIt = request.includes(text);
      if (isIt) network.proxy.losesReply = undefined;
      return isIt;
    };
  };
  lose("the first");
  const first = await far.put(namespace, "key", "the first", { expected: null });
  lose("the second");
  const second = await far.put(namespace, "key", "the second", { expected: first });
  lose("the third");
  const third = await far.put(namespace, "key", "the third");
  expect(network.proxy.losesReply, "every answer was lost").toBeUndefined();
  expect(await store.get(namespace, "key")).toEqual({ value: "the third", version: third });
  expect(new Set([first, second, third]).size).toBe(3);
});

test("a put that may or may not have been applied says so, without contents", async () => {
  await using network = await proxiedPool();
  const options = { pool: network.pool, tablePrefix: prefix, commandTimeoutMs: 1_500 };
  const far = new MysqlKeyValueStore(options);
  await far.get(namespace, "key");
  network.proxy.losesReply = (request) => {
    const isIt = request.includes("canary");
    if (isIt) network.proxy.mode = "drop-replies";
    return false;
  };
  const error = await far.put(namespace, "key", "canary").catch((reason: unknown) => reason);
  expect(UnknownOutcomeError.is(error)).toBe(true);
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain("canary");
});

test("a conflict is never reported as anything else, even when the answer is lost", async () => {
  await using network = await proxiedPool();
  const far = new MysqlKeyValueStore({ pool: network.pool, tablePrefix: prefix });
  const first = await store.put(namespace, "key", 1);
  await store.put(namespace, "key", 2);
  const stale = () => far.put(namespace, "key", "stale", { expected: first });
  await expect(stale()).rejects.toSatisfy(StateConflictError.is);
  network.proxy.losesReply = (request) => request.includes("stale");
  await expect(stale()).rejects.toSatisfy(UnknownOutcomeError.is);
  expect((await store.get(namespace, "key"))?.value).toBe(2);
});

test("keys that differ only far behind are listed in order, page by page, each once", async () => {
  const fronts = [
    "a",
    "漢".repeat(233),
    "漢".repeat(234),
    "漢".repeat(600),
    "漢".repeat(1_000),
    "é",
  ];
  const keys = fronts.flatMap((front) =>
    Array.from({ length: 110 }, (_, index) => `${front}${(index * 7) % 110}`),
  );
  for (let at = 0; at < keys.length; at += 50)
    await Promise.all(keys.slice(at, at + 50).map((key) => store.put(namespace, key, 1)));
  const sorted = [...keys].sort(byBytes);
  for (const limit of [37, 100, 101, 350])
    for (const prefix of ["", "漢".repeat(233), "漢".repeat(601)]) {
      const listed: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.list(namespace, { limit, prefix, cursor });
        expect(page.keys.length).toBeLessThanOrEqual(limit);
        listed.push(...page.keys);
        cursor = page.cursor;
      } while (cursor !== undefined);
      const wanted = sorted.filter((key) => key.startsWith(prefix));
      // Not toEqual: a difference of such keys would fill the screen.
      expect(JSON.stringify(listed) === JSON.stringify(wanted), `${limit}, ${prefix.length}`).toBe(
        true,
      );
    }
});

test("keys are listed in the order of their UTF-8 bytes, also over several statements", async () => {
  const keys = Array.from({ length: 250 }, (_, index) => `k${String(index).padStart(3, "0")}`);
  const odd = ["🌤", "\ufffd", "é", "z"];
  for (const key of [...odd, ...keys].reverse()) await store.put(namespace, key, 1);
  const { keys: listed } = await store.list(namespace, { limit: 1_000 });
  expect(listed).toEqual(
    [...odd, ...keys].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
  );
  const page = await store.list(namespace, { limit: 240, prefix: "k" });
  expect([page.keys.length, page.cursor]).toEqual([240, "k239"]);
});

test("a value that is not what was written is damage, and its contents stay out of the error", async () => {
  await store.put(namespace, "key", "text");
  await pool.query(`UPDATE ${prefix}kv SET body = 'canary{'`);
  const error = await store.get(namespace, "key").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "CORRUPT" });
  expect(inspect(error, { depth: 10 })).not.toContain("canary");
});

test("a thousand values are read in the order of their keys", async () => {
  const keys = Array.from({ length: 1_000 }, (_, index) => `key ${index}`);
  await Promise.all(keys.map((key) => store.put(namespace, key, key)));
  const asked = [...keys, "absent", ...keys.slice(0, 3)];
  const values = await store.getMany(namespace, asked);
  expect(values.map((entry) => entry?.value ?? "absent")).toEqual(asked);
  expect(await rowsOf(pool, `SELECT COUNT(*) FROM ${prefix}kv`)).toEqual([[1_000]]);
});

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
