import { Redis } from "ioredis";
import { afterAll, beforeEach, expect, inject, test } from "vitest";
import { connect } from "../../src/connection/redis-connection.js";
import { logIndexKey } from "../../src/keys.js";
import type { RedisConversationLog } from "../../src/log/redis-conversation-log.js";
import { ownPrefix, redisLogs } from "./redis-logs.js";
import { messageRecord, slot } from "./sample-records.js";
import { type LimitedSearch, limitedSearch, searchEverything } from "./search-everything.js";

const redis = redisLogs();
const recipe = new Redis(inject("redisUrl"), { lazyConnect: true });
const connection = connect(recipe, { commandTimeoutMs: 10_000 });
afterAll(() => connection.close());

const query = { agentId: slot.agentId, userId: "user", text: "needle" };
const HOUR = 3_600_000;
let index: string;
let log: RedisConversationLog;
let search: LimitedSearch;

beforeEach(() => {
  const keyPrefix = ownPrefix();
  index = logIndexKey(keyPrefix, query.agentId, query.userId);
  log = redis.open({ keyPrefix });
  search = limitedSearch(connection, keyPrefix);
});

const needles = (...ids: string[]) => ids.map((id) => messageRecord(`needle ${id}`, id));

test("a search whose time is up at once looks at a record all the same, and going on ends", async () => {
  for (const sessionId of ["a", "b", "c"])
    await log.append({ ...slot, sessionId }, needles("1", "2"));
  const { hits, pages } = await searchEverything((each) => search(each, { ms: 0 }), query);
  expect(hits.map((hit) => hit.slot.sessionId).sort()).toEqual(["a", "a", "b", "b", "c", "c"]);
  // One for every record, and the one that finds no more.
  expect(pages).toBe(7);
});

test("a record with a long text is looked at to its end, however few characters are left", async () => {
  await log.append(slot, [
    messageRecord(`${"hay ".repeat(600_000)}needle`, "long"),
    ...needles("short"),
  ]);
  const { hits, pages } = await searchEverything((each) => search(each, { chars: 1 }), query);
  expect(hits.map(({ record }) => record.id)).toEqual(["short", "long"]);
  expect(pages).toBe(3);
});

test("sessions searched through page by page stay in the index, however old", async () => {
  const sessions = ["a", "b", "c"];
  for (const [age, sessionId] of sessions.entries()) {
    await log.append({ ...slot, sessionId }, needles("1"));
    await redis.client.zadd(index, Date.now() - (age + 1) * HOUR, sessionId);
  }
  for (let time = 0; time < 2; time++) {
    const { hits } = await searchEverything((each) => search(each), { ...query, limit: 1 });
    expect(hits.map((hit) => hit.slot.sessionId)).toEqual(sessions);
  }
  expect(await redis.client.zrange(index, "0", "-1", "REV")).toEqual(sessions);
});

test("a search that spends its limits on entries without a log sees everything once nevertheless", async () => {
  await log.append({ ...slot, sessionId: "new" }, needles("1"));
  await log.append({ ...slot, sessionId: "old" }, needles("2"));
  await redis.client.zadd(index, Date.now() - 9 * HOUR, "old");
  for (let at = 0; at < 7; at++)
    await redis.client.zadd(index, Date.now() - 5 * HOUR - at, `gone ${at}`);
  const { hits } = await searchEverything((each) => search(each, { records: 3 }), query, 20);
  expect(hits.map((hit) => hit.slot.sessionId)).toEqual(["new", "old"]);
  const left = await redis.client.zrange(index, "0", "-1", "REV");
  // All but those where it stopped.
  expect(left.filter((member) => member.startsWith("gone")).length).toBeLessThanOrEqual(3);
});

test("what a search stopped at may be deleted: then it begins again, and ends", async () => {
  for (const sessionId of ["a", "b"]) await log.append({ ...slot, sessionId }, needles("1", "2"));
  const { hits, next } = await log.search({ ...query, limit: 1 });
  await log.delete(hits[0]?.slot ?? slot);
  const left = next?.sessionId === "a" ? "b" : "a";
  const on = await log.search({ ...query, before: next });
  expect(on.hits.map((hit) => `${hit.slot.sessionId} ${hit.record.id}`)).toEqual([
    `${left} 2`,
    `${left} 1`,
  ]);
  expect(on.next).toBeUndefined();
});

test("a search in one session heeds only a place in it", async () => {
  await log.append(slot, needles("1", "2"));
  const from = async (before: { sessionId: string; seq: number }) => {
    const { hits } = await log.search({ ...query, sessionId: slot.sessionId, before });
    return hits.map(({ record }) => record.id);
  };
  expect(await from({ sessionId: slot.sessionId, seq: 2 })).toEqual(["1"]);
  expect(await from({ sessionId: slot.sessionId, seq: 1 })).toEqual([]);
  expect(await from({ sessionId: "another", seq: 1 })).toEqual(["2", "1"]);
});
