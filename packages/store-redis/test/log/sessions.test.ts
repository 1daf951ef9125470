import { InvalidInputError } from "@holdfast/core";
import { expect, test } from "vitest";
import { logIndexKey, partKey } from "../../src/keys.js";
import { ownPrefix, redisLogs } from "./redis-logs.js";
import { messageRecord, slot } from "./sample-records.js";

const redis = redisLogs();
const user = { agentId: slot.agentId, userId: "user" };
const HOUR = 3_600_000;

async function idsOf(
  log: ReturnType<typeof redis.open>,
  query: { limit?: number; cursor?: string } = {},
): Promise<string[]> {
  const { sessions } = await log.sessions({ ...user, ...query });
  return sessions.map((each) => each.slot.sessionId);
}

test("the session written to last is listed first, with the time of that", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  const index = logIndexKey(keyPrefix, user.agentId, user.userId);
  const now = Date.now();
  for (const [age, sessionId] of ["new", "middle", "old"].entries()) {
    await log.append({ ...slot, sessionId }, [messageRecord("x")]);
    await redis.client.zadd(index, now - age * HOUR, sessionId);
  }
  const { sessions } = await log.sessions(user);
  expect(sessions.map((each) => [each.slot.sessionId, each.lastAt])).toEqual(
    ["new", "middle", "old"].map((id, age) => [id, new Date(now - age * HOUR).toISOString()]),
  );
  // By another process: this one wrote the index a moment ago.
  await redis.open({ keyPrefix }).append({ ...slot, sessionId: "old" }, [messageRecord("x")]);
  expect(await idsOf(log)).toEqual(["old", "new", "middle"]);
});

test("a session whose keys expired is not listed, and leaves the index once nobody can be about to write it", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix, ttlMs: HOUR });
  const index = logIndexKey(keyPrefix, user.agentId, user.userId);
  for (const sessionId of ["lives", "expired", "long expired"])
    await log.append({ ...slot, sessionId }, [messageRecord("x")]);
  for (const sessionId of ["expired", "long expired"])
    await redis.client.pexpireat(partKey(keyPrefix, { ...slot, sessionId }, "log"), 1);
  await redis.client.zadd(index, Date.now() - HOUR, "long expired");
  expect(await idsOf(log)).toEqual(["lives"]);
  expect((await redis.client.zrange(index, "0", "-1")).sort()).toEqual(["expired", "lives"]);
});

test("a log deleted by one process is not listed by another, not even for a moment", async () => {
  const keyPrefix = ownPrefix();
  const other = redis.open({ keyPrefix });
  const seen: string[][] = [];
  const log = redis.watch({ keyPrefix }, async ({ name }) => {
    if (name === "ZREM" || name === "delete-log") seen.push(await idsOf(other));
  });
  await log.append(slot, [messageRecord("x")]);
  expect(await idsOf(other)).toEqual([slot.sessionId]);
  await log.delete(slot);
  expect(seen).toEqual([[], []]);
});

test("many entries without a log take a page each thousand, not all at once", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  const index = logIndexKey(keyPrefix, user.agentId, user.userId);
  await log.append(slot, [messageRecord("x")]);
  await redis.client.zadd(index, Date.now() - HOUR, slot.sessionId);
  const fresh = Array.from({ length: 1_500 }, (_, at) => [Date.now(), `about to begin ${at}`]);
  await redis.client.zadd(index, ...fresh.flat());
  const first = await log.sessions({ ...user, limit: 10 });
  expect(first.sessions).toEqual([]);
  expect(await idsOf(log, { limit: 10, cursor: first.cursor as string })).toEqual([slot.sessionId]);
});

test("a cursor that is none is refused", async () => {
  const listing = redis.open().sessions({ ...user, cursor: "x" });
  await expect(listing).rejects.toSatisfy(InvalidInputError.is);
});
