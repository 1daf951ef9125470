import { StateCorruptError, StateTooLargeError } from "@holdfast/core";
import { type LogDraft, logRecordText } from "@holdfast/core/store-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { partKey } from "../../src/keys.js";
import { keysBelow, ownPrefix, redisLogs } from "./redis-logs.js";
import { markRecord, messageRecord, slot } from "./sample-records.js";

const redis = redisLogs();

test("a stored record has the bytes every log gives it, its seq included", async () => {
  const text = fc.string({ unit: "binary", maxLength: 200 });
  const ids = fc.constantFrom("run.1", "run.2", "run", 'run."3"', "run.🌤", "run.🌥", "run.\n");
  const bodies: fc.Arbitrary<LogDraft> = fc.oneof(
    text.map((content) => messageRecord(content)),
    ids.map((id) => messageRecord("of a run", id)),
    fc.json().map((json) => markRecord({ name: "note", details: { value: JSON.parse(json) } })),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).map((id) => messageRecord("", id)),
  );
  const heads = fc.record({
    callId: fc.constantFrom("call", 'ca"ll', "漢"),
    at: fc.constantFrom("2026-11-17T20:00:00.000Z", "2026-11-17T20:00:00.001Z"),
  });
  const records = fc.tuple(bodies, heads).map(([body, head]) => ({ ...body, ...head }));
  const drafts = fc.uniqueArray(records, { minLength: 1, maxLength: 8, selector: ({ id }) => id });
  await fc.assert(
    fc.asyncProperty(drafts, async (appended) => {
      const keyPrefix = ownPrefix();
      await redis.open({ keyPrefix }).append(slot, appended);
      const stored = await redis.client.lrange(partKey(keyPrefix, slot, "log"), 0, -1);
      expect(stored).toEqual(
        appended.map((draft, index) => logRecordText({ ...draft, seq: index + 1 })),
      );
    }),
    { numRuns: 100, examples: [[["run.🌤", "run.🌥"].map((id) => messageRecord("", id))]] },
  );
});

test("a record over 16 MB without its long texts is refused before anything is sent", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  const parts = Array.from({ length: 300 }, () => "x".repeat(60_000));
  const record = markRecord({ name: "note", details: { parts } });
  const error = await log.append(slot, [messageRecord("first"), record]).catch((e: unknown) => e);
  expect(StateTooLargeError.is(error)).toBe(true);
  expect(String(error)).toContain('session "session" of user "user"');
  expect(await keysBelow(redis.client, keyPrefix)).toEqual([]);
});

test("two prefixes on one server never meet", async () => {
  const keyPrefix = ownPrefix();
  const [one, other] = [redis.open({ keyPrefix }), redis.open({ keyPrefix: `${keyPrefix}x:` })];
  await one.append(slot, [messageRecord("needle".repeat(20_000))]);
  const ref = (await one.read(slot))[0]?.blobs?.[0]?.ref ?? "";
  expect(await other.read(slot)).toEqual([]);
  expect(await other.readBlob(slot, ref)).toBeNull();
  expect(await other.search({ agentId: "agent", userId: "user", text: "needle" })).toEqual({
    hits: [],
  });
  expect(await other.delete(slot)).toBe(false);
  expect(await one.readBlob(slot, ref)).toBe("needle".repeat(20_000));
});

test("everything kept of a log expires together, and each append puts that off", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix, ttlMs: 600_000 });
  const keys = (["log", "log-ids", "blobs"] as const).map((part) => partKey(keyPrefix, slot, part));
  const remaining = () => Promise.all(keys.map((key) => redis.client.pttl(key)));
  await log.append(slot, [messageRecord("long".repeat(50_000))]);
  for (const ms of await remaining()) expect(ms).toBeGreaterThan(500_000);
  for (const key of keys) await redis.client.pexpire(key, 300_000);
  await log.append(slot, [messageRecord("short")]);
  for (const ms of await remaining()) expect(ms).toBeGreaterThan(500_000);
});

test("without a ttl nothing expires", async () => {
  const keyPrefix = ownPrefix();
  await redis.open({ keyPrefix }).append(slot, [messageRecord("long".repeat(50_000))]);
  for (const key of await keysBelow(redis.client, keyPrefix))
    expect(await redis.client.pttl(key)).toBe(-1);
});

test("a deleted log leaves no key behind", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  await log.append(slot, [messageRecord("long".repeat(50_000))]);
  expect(await keysBelow(redis.client, keyPrefix)).toHaveLength(4);
  await log.delete(slot);
  expect(await keysBelow(redis.client, keyPrefix)).toEqual([]);
});

test("a record that is not what was appended is damage, never a gap", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  await log.append(slot, [messageRecord("secret")]);
  const [record] = await log.read(slot);
  const key = partKey(keyPrefix, slot, "log");
  const moved = record === undefined ? "" : logRecordText(record);
  for (const damaged of ["", '{"v":1,"secret', moved]) {
    await redis.client.del(key);
    await redis.client.rpush(key, "", damaged);
    const error = await log.read(slot).catch((e: unknown) => e);
    expect(StateCorruptError.is(error)).toBe(true);
    expect(String(error)).not.toContain("secret");
  }
});

test("a range whose ends are no numbers is refused; one beyond all records is empty", async () => {
  const log = redis.open();
  await log.append(slot, [messageRecord("one"), messageRecord("two")]);
  await expect(log.read(slot, { before: Number.NaN })).rejects.toThrow("numbers");
  await expect(log.read(slot, { after: "1" as unknown as number })).rejects.toThrow("numbers");
  expect(await log.read(slot, { after: Infinity })).toEqual([]);
  expect(await log.read(slot, { before: -Infinity })).toEqual([]);
  expect(await log.read(slot, { before: Infinity, after: -Infinity })).toHaveLength(2);
  expect(await log.read(slot, { before: 1.5 })).toHaveLength(1);
});

test("however much is read, no reply is much over half a megabyte", async () => {
  const replies: number[] = [];
  const log = redis.watch({}, ({ reply }) => void replies.push(JSON.stringify(reply).length));
  const small = Array.from({ length: 2_000 }, () => messageRecord("x"));
  const large = Array.from({ length: 60 }, () => messageRecord("x".repeat(60_000)));
  await log.append(slot, small);
  for (let at = 0; at < large.length; at += 10) await log.append(slot, large.slice(at, at + 10));
  replies.length = 0;
  for (const range of [{ limit: 2_060 }, { limit: 2_060, after: 0 }])
    expect((await log.read(slot, range)).map(({ id }) => id)).toEqual(
      [...small, ...large].map(({ id }) => id),
    );
  expect(Math.max(...replies)).toBeLessThan(1_200_000);
  expect(replies.length).toBeLessThan(30);
});
