import { toolResultMessage } from "@holdfast/core";
import { expect, test } from "vitest";
import { logIndexKey, partKey } from "../../src/keys.js";
import { keysBelow, ownPrefix, redisLogs } from "./redis-logs.js";
import { messageRecord, slot } from "./sample-records.js";

const redis = redisLogs();
const user = { agentId: slot.agentId, userId: "user" };
const HOUR = 3_600_000;

test("the session written to last comes first, and in each the newest record", async () => {
  const keyPrefix = ownPrefix();
  const index = logIndexKey(keyPrefix, user.agentId, user.userId);
  for (const [age, sessionId] of ["new", "middle", "old"].entries()) {
    const log = redis.open({ keyPrefix });
    await log.append({ ...slot, sessionId }, [
      messageRecord("needle 1"),
      messageRecord("needle 2"),
    ]);
    await redis.client.zadd(index, Date.now() - age * HOUR, sessionId);
  }
  const { hits } = await redis.open({ keyPrefix }).search({ ...user, text: "needle", limit: 5 });
  expect(hits.map((hit) => `${hit.slot.sessionId} ${hit.snippet}`)).toEqual([
    "new needle 2",
    "new needle 1",
    "middle needle 2",
    "middle needle 1",
    "old needle 2",
  ]);
});

test("a session is in its user's index before its first record is there, and anonymous ones are in none", async () => {
  const keyPrefix = ownPrefix();
  const index = logIndexKey(keyPrefix, user.agentId, user.userId);
  const indexed: unknown[] = [];
  const log = redis.watch({ keyPrefix }, async ({ name }) => {
    if (name === "touch-index-entry")
      indexed.push(await redis.client.exists(partKey(keyPrefix, slot, "log")));
  });
  await log.append(slot, [messageRecord("needle")]);
  expect(indexed[0]).toBe(0);
  expect(await redis.client.zrange(index, "0", "-1")).toEqual([slot.sessionId]);
  await log.append({ ...slot, userId: null }, [messageRecord("needle")]);
  const indexes = (await keysBelow(redis.client, keyPrefix)).filter((key) => key.endsWith("-logs"));
  expect(indexes).toEqual([index]);
});

test("an index is written at most once a minute per session", async () => {
  let written = 0;
  const log = redis.watch({}, ({ name }) => void (name === "touch-index-entry" && written++));
  await log.append(slot, [messageRecord("first")]);
  const first = written;
  for (let at = 0; at < 20; at++) await log.append(slot, [messageRecord(`text ${at}`)]);
  expect(written).toBe(first);
  expect(first).toBe(1);
});

test("a session deleted by another process and begun anew is found again", async () => {
  const keyPrefix = ownPrefix();
  const [log, other] = [redis.open({ keyPrefix }), redis.open({ keyPrefix })];
  await log.append(slot, [messageRecord("needle")]);
  await other.delete(slot);
  await log.append(slot, [messageRecord("needle")]);
  expect((await other.search({ ...user, text: "needle" })).hits).toHaveLength(1);
});

test("an index entry whose log is gone is dropped when it is seen, unless it is fresh", async () => {
  const keyPrefix = ownPrefix();
  const index = logIndexKey(keyPrefix, user.agentId, user.userId);
  await redis.client.zadd(index, Date.now() - HOUR, "gone", Date.now(), "about to begin");
  expect(await redis.open({ keyPrefix }).search({ ...user, text: "needle" })).toEqual({ hits: [] });
  expect(await redis.client.zrange(index, "0", "-1")).toEqual(["about to begin"]);
});

test("with a ttl an index that nobody searches does not only grow, whatever lives on in it", async () => {
  const keyPrefix = ownPrefix();
  const index = logIndexKey(keyPrefix, user.agentId, user.userId);
  const log = redis.open({ keyPrefix, ttlMs: HOUR });
  const append = (sessionId: string) => log.append({ ...slot, sessionId }, [messageRecord("x")]);
  const living = Array.from({ length: 5 }, (_, at) => `living ${at}`);
  for (const sessionId of living) {
    await append(sessionId);
    // Only loaded since: that puts its end off and leaves the index alone.
    await redis.client.zadd(index, Date.now() - 9 * HOUR, sessionId);
  }
  for (let at = 0; at < 6; at++)
    await redis.client.zadd(index, Date.now() - 5 * HOUR, `gone ${at}`);
  const fresh = Array.from({ length: 6 }, (_, at) => `fresh ${at}`);
  for (const sessionId of fresh) await append(sessionId);
  expect((await redis.client.zrange(index, "0", "-1")).sort()).toEqual([...fresh, ...living]);
});

test("text is found where two parts of a long one meet, and images are not text", async () => {
  const log = redis.open();
  const filler = "z".repeat(1_048_576 - 3);
  const image = { kind: "base64", data: "needle".repeat(30_000) } as const;
  await log.append(slot, [
    messageRecord(`${filler}needle in ${"y".repeat(2_000_000)} a haystack`),
    messageRecord(
      toolResultMessage({
        type: "tool_result",
        toolCallId: "c",
        name: "draw",
        state: "success",
        output: [{ type: "data", mediaType: "image/png", source: image }],
      }),
    ),
  ]);
  for (const text of ["NEEDLE in yyy", "y a hay"]) {
    const [hit, ...others] = (await log.search({ ...user, text })).hits;
    expect(hit?.record.seq).toBe(1);
    expect(hit?.snippet.toLowerCase()).toContain(text.toLowerCase());
    expect(others).toEqual([]);
  }
  expect((await log.search({ ...user, text: "needle" })).hits).toHaveLength(1);
});

test("a damaged record, or a long text of which a part is missing, hides no other", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  await log.append(slot, [messageRecord("needle"), messageRecord("hay ".repeat(100_000))]);
  const blobs = partKey(keyPrefix, slot, "blobs");
  const chunks = (await redis.client.hkeys(blobs)).filter((field) => field.endsWith(":1"));
  expect(await redis.client.hdel(blobs, ...chunks)).toBe(1);
  const key = partKey(keyPrefix, slot, "log");
  await redis.client.rpush(
    key,
    '{"v":1,"seq":3,"needle',
    '{"v":1,"seq":4,"id":"i","callId":"c","at":"","kind":"message","message":{"content":7}}',
  );
  expect((await log.search({ ...user, text: "needle" })).hits).toHaveLength(1);
});

test("a search looks at 20,000 records at most and says where to go on", async () => {
  const log = redis.open();
  await log.append(slot, [messageRecord("needle, too old")]);
  for (let batch = 0; batch < 20; batch++)
    await log.append(
      slot,
      Array.from({ length: 1_000 }, (_, at) => messageRecord(`text ${batch} ${at}`)),
    );
  const { hits, next } = await log.search({ ...user, text: "needle" });
  expect({ hits, next }).toEqual({ hits: [], next: { sessionId: slot.sessionId, seq: 2 } });
  expect((await log.search({ ...user, text: "needle", before: next })).hits).toHaveLength(1);
  expect((await log.search({ ...user, text: "TEXT 0 0" })).hits).toHaveLength(1);
});

test("a search ends with the reason of its signal, between two replies", async () => {
  const abort = new AbortController();
  let replies = 0;
  const log = redis.watch({}, ({ name }) => {
    if (name === "read-log" && ++replies === 2) abort.abort(new Error("enough"));
  });
  for (let batch = 0; batch < 5; batch++)
    await log.append(
      slot,
      Array.from({ length: 1_000 }, () => messageRecord("text")),
    );
  const search = log.search({ ...user, text: "needle", signal: abort.signal });
  await expect(search).rejects.toThrow("enough");
  expect(replies).toBe(2);
});

test("others run while a search looks through what it got", async () => {
  let turns = 0;
  let isSearching = true;
  const log = redis.watch({}, ({ name }) => {
    if (name === "read-log") setImmediate(countTurns);
  });
  function countTurns(): void {
    turns++;
    if (isSearching) setImmediate(countTurns);
  }
  await log.append(
    slot,
    Array.from({ length: 900 }, () => messageRecord("text")),
  );
  await log.search({ ...user, sessionId: slot.sessionId, text: "needle" });
  isSearching = false;
  // All of them came with one reply.
  expect(turns).toBeGreaterThanOrEqual(8);
});
