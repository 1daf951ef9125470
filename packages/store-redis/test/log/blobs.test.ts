import { StateCorruptError, StoreUnavailableError } from "@holdfast/core";
import { isWellFormed } from "@holdfast/core/plugin-kit";
import { withBlobs } from "@holdfast/core/store-kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { partKey } from "../../src/keys.js";
import { chunksOf } from "../../src/log/blobs.js";
import { ownPrefix, redisLogs } from "./redis-logs.js";
import { messageRecord, slot } from "./sample-records.js";

const redis = redisLogs();

test("a text is cut into pieces of at most 256 KB that give it back, whatever characters the cuts meet", () => {
  const unit = fc.constantFrom("x", "é", "漢", "😀", "\0", "\n");
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1, maxLength: 7 }), fc.nat(9), (units, shift) => {
      const text = "y".repeat(shift) + units.join("").repeat(Math.ceil(600_000 / units.length));
      const chunks = chunksOf(text);
      expect(chunks.join("") === text).toBe(true);
      for (const chunk of chunks) {
        expect(isWellFormed(chunk)).toBe(true);
        expect(Buffer.byteLength(chunk)).toBeLessThanOrEqual(262_144);
      }
    }),
    { numRuns: 40 },
  );
});

test("5 MB of text come back byte for byte", async () => {
  const line = '0123456789 äöü 漢字 😀 \u0000 \\ " \r\n';
  const text = line.repeat(Math.ceil(5_242_880 / Buffer.byteLength(line)));
  const log = redis.open();
  await log.append(slot, [messageRecord(text), messageRecord("short")]);
  const [record] = await log.read(slot);
  if (record === undefined) throw new Error("no record");
  const [block] = (await withBlobs(log, slot, record)).message?.content ?? [];
  expect(block?.type === "text" && block.text === text).toBe(true);
});

test("a long text is sent and stored once per slot", async () => {
  const keyPrefix = ownPrefix();
  const sent: string[] = [];
  const log = redis.watch({ keyPrefix }, ({ name }) => void sent.push(name));
  const text = "line\n".repeat(300_000);
  await log.append(slot, [messageRecord(text), messageRecord(text)]);
  expect(sent.filter((name) => name === "put-chunks")).toHaveLength(2);
  const key = partKey(keyPrefix, slot, "blobs");
  expect(await redis.client.hlen(key)).toBe(7);
  await log.append(slot, [messageRecord(text)]);
  expect(sent.filter((name) => name === "put-chunks")).toHaveLength(2);
  expect(await redis.client.hlen(key)).toBe(7);
});

test("a text deleted while it is being stored is not left in parts, and no record names it", async () => {
  const keyPrefix = ownPrefix();
  let parts = 0;
  const log = redis.watch({ keyPrefix }, async ({ name }) => {
    if (name === "put-chunks" && ++parts === 1) await redis.open({ keyPrefix }).delete(slot);
  });
  const record = messageRecord("line\n".repeat(600_000));
  const error = await log.append(slot, [record]).catch((e: unknown) => e);
  expect(StoreUnavailableError.is(error)).toBe(true);
  expect(await log.read(slot)).toEqual([]);
  await log.append(slot, [record]);
  const [stored] = await log.read(slot);
  if (stored === undefined) throw new Error("no record");
  expect(await withBlobs(log, slot, stored)).toMatchObject({ message: record.message });
});

test("a text of which a part is missing is damage, never a shorter text", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  await log.append(slot, [messageRecord("line\n".repeat(600_000))]);
  const ref = (await log.read(slot))[0]?.blobs?.[0]?.ref ?? "";
  const key = partKey(keyPrefix, slot, "blobs");
  const chunk = (await redis.client.hget(key, `${ref}:9`)) ?? "";
  expect(chunk).not.toBe("");
  await redis.client.hdel(key, `${ref}:9`);
  expect(StateCorruptError.is(await log.readBlob(slot, ref).catch((e: unknown) => e))).toBe(true);
  await redis.client.hset(key, `${ref}:9`, chunk);
  expect(await log.readBlob(slot, ref)).toBe("line\n".repeat(600_000));
});

test("a single part of a text cannot be asked for", async () => {
  const log = redis.open();
  await log.append(slot, [messageRecord("x".repeat(100_000))]);
  const ref = (await log.read(slot))[0]?.blobs?.[0]?.ref ?? "";
  expect(await log.readBlob(slot, `${ref}:0`)).toBeNull();
});
