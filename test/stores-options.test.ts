import { ConfigurationError, InMemoryAgentStateStore } from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import { FileSessionGate, JsonFileAgentStateStore } from "@holdfast/store-json";
import { MysqlAgentStateStore, MysqlConversationLog } from "@holdfast/store-mysql";
import { RedisAgentStateStore, RedisKeyValueStore } from "@holdfast/store-redis";
import { expect, test } from "vitest";

type Made = new (options: never) => unknown;

function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (error) {
    if (ConfigurationError.is(error)) return error.problems;
    throw error;
  }
  return [];
}

const pool = { getConnection: () => undefined };
const key = Buffer.alloc(32).toString("base64");

test.each<[string, Made, object, string]>([
  ["JsonFileAgentStateStore", JsonFileAgentStateStore, { roots: "/x" }, "did you mean root?"],
  ["JsonFileAgentStateStore", JsonFileAgentStateStore, { path: "/x" }, "there are root, durabil"],
  ["FileSessionGate", FileSessionGate, { root: "/x", lease: 5 }, "there are root"],
  ["RedisAgentStateStore", RedisAgentStateStore, { client: {}, prefix: "x" }, "there are client"],
  ["RedisKeyValueStore", RedisKeyValueStore, { client: {}, keyprefix: "x" }, "mean keyPrefix?"],
  ["MysqlAgentStateStore", MysqlAgentStateStore, { pool, tablePrefx: "x" }, "mean tablePrefix?"],
  ["MysqlConversationLog", MysqlConversationLog, { pool, ttlMs: 5 }, "there are pool, tablePrefix"],
])("%s names the accepted options beside an unknown one: %#", (name, Store, options, expected) => {
  const problems = problemsOf(() => new Store(options as never));
  expect(problems).toEqual([expect.stringContaining(`${name}: unknown option "`)]);
  expect(problems[0]).toContain(expected);
});

test("withEncryption too, without the key", () => {
  const options = { keys: [{ id: "k", key }], readPlainText: true };
  const make = () => withEncryption(new InMemoryAgentStateStore(), options as never);
  expect(problemsOf(make)).toEqual([
    'withEncryption: unknown option "readPlainText"; did you mean readPlaintext?',
  ]);
});

test.each<[string, Made]>([
  ["JsonFileAgentStateStore", JsonFileAgentStateStore],
  ["FileSessionGate", FileSessionGate],
  ["RedisAgentStateStore", RedisAgentStateStore],
  ["MysqlAgentStateStore", MysqlAgentStateStore],
])("%s wants an object of options, not a text", (name, Store) => {
  expect(problemsOf(() => new Store("./x" as never))).toEqual([
    expect.stringMatching(new RegExp(`^${name}: options is "./x": .*object`)),
  ]);
});

test("a root that is no path is named", () => {
  expect(problemsOf(() => new JsonFileAgentStateStore({ root: 5 as never }))).toEqual([
    "JsonFileAgentStateStore: option root is 5; it must be the path of a directory",
  ]);
});
