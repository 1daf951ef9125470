import { StateCorruptError, UnknownOutcomeError } from "@holdfast/core";
import { tcpProxy } from "@holdfast/testing/servers";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { partKey } from "../../src/keys.js";
import { RedisConversationLog } from "../../src/log/redis-conversation-log.js";
import { ownPrefix, redisLogs } from "./redis-logs.js";
import { messageRecord, slot } from "./sample-records.js";

const redis = redisLogs();

test("whichever of its replies is lost, an append is carried out once", async () => {
  const { hostname, port } = new URL(redis.url);
  await using proxy = await tcpProxy({ host: hostname, port: Number(port) });
  const client = new Redis(`redis://${proxy.host}:${proxy.port}`, { lazyConnect: true });
  const text = "line\n".repeat(300_000);
  let losses = 0;
  for (let nth = 1, lost = true; lost; nth++) {
    const log = new RedisConversationLog({ client, keyPrefix: ownPrefix() });
    await log.append(slot, [messageRecord("before", "before")]);
    let requests = 0;
    lost = false;
    proxy.losesReply = (request) => {
      if (!/EVALSHA|EVAL|ZADD/i.test(request.toString("latin1", 0, 64)) || ++requests !== nth)
        return false;
      lost = true;
      losses++;
      return true;
    };
    await log.append(slot, [messageRecord(text, "long"), messageRecord("short", "short")]);
    proxy.losesReply = undefined;
    const records = await log.read(slot);
    expect(records.map(({ id }) => id)).toEqual(["before", "long", "short"]);
    expect(await log.readBlob(slot, records[1]?.blobs?.[0]?.ref ?? "")).toBe(text);
    await log.close();
  }
  client.disconnect();
  // Which long texts are known, their two parts, the records.
  expect(losses).toBeGreaterThanOrEqual(4);
});

test("with minReplicas an append that no replica confirmed is in doubt, and repeating it doubles nothing", async () => {
  const log = redis.open({ minReplicas: 1, commandTimeoutMs: 2_000 });
  const records = [messageRecord("one"), messageRecord("two")];
  for (let attempt = 0; attempt < 2; attempt++) {
    const error = await log.append(slot, records).catch((e: unknown) => e);
    expect(UnknownOutcomeError.is(error)).toBe(true);
  }
  expect((await log.read(slot)).map(({ id }) => id)).toEqual(records.map(({ id }) => id));
});

test("a record taken out by hand is damage, never a gap", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  const key = partKey(keyPrefix, slot, "log");
  await log.append(slot, [messageRecord("one"), messageRecord("two"), messageRecord("three")]);
  await redis.client.ltrim(key, 1, -1);
  const error = await log.read(slot).catch((e: unknown) => e);
  expect(StateCorruptError.is(error)).toBe(true);
});
