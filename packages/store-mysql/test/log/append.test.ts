import { userMessage } from "@holdfast/core";
import { logRecordText } from "@holdfast/core/store-kit";
import { MysqlConversationLog } from "@holdfast/store-mysql";
import { eventually } from "@holdfast/testing";
import { createPool } from "mysql2/promise";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { slotHash } from "../../src/keys.js";
import { dropTables, freshTables, proxiedPool, rowsOf, testPool } from "./fresh-tables.js";
import { idsOf, loggedSlot as slot, textRecord } from "./log-records.js";

const pool = testPool();
const k = slotHash(slot);
let prefix: string;
let log: MysqlConversationLog;

beforeEach(async () => {
  prefix = await freshTables(pool);
  log = new MysqlConversationLog({ pool, tablePrefix: prefix });
});
afterEach(() => dropTables(pool, prefix));

test("a record that is short for its table, or whole as earlier releases wrote it, is read as it was appended", async () => {
  const odd = { callId: "é".repeat(400), at: "\ud800" };
  const drafts = [
    textRecord("1", "ünï\u0000\ud800 🌤"),
    textRecord("2", "long ".repeat(20_000)),
    { ...textRecord("3", "odd"), ...odd },
  ];
  await log.append(slot, drafts);
  const records = await log.read(slot);
  expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(records[0]).toEqual({ ...drafts[0], seq: 1 });
  expect(records[2]).toEqual({ ...drafts[2], seq: 3 });
  for (const record of records)
    await pool.query(`UPDATE ${prefix}log SET body = ? WHERE record_seq = ?`, [
      Buffer.from(logRecordText(record), "utf8"),
      record.seq,
    ]);
  expect(await log.read(slot)).toEqual(records);
});

test("an append of hundreds of records of every size is whole and in order", async () => {
  const records = Array.from({ length: 333 }, (_, index) =>
    textRecord(`r${index}`, "x".repeat(index % 50 === 7 ? 60_000 : 10)),
  );
  await log.append(slot, records);
  expect(idsOf(await log.read(slot, { limit: 1_000 }))).toEqual(idsOf(records));
  expect(idsOf(await log.read(slot, { after: 0, limit: 205 }))).toEqual(
    idsOf(records).slice(0, 205),
  );
});

test("a text of several chunks is stored once, whichever record names it", async () => {
  const long = "A line, 漢字.\n".repeat(60_000);
  await log.append(slot, [textRecord("1", long)]);
  await log.append(slot, [textRecord("2", long)]);
  const chunks = await rowsOf(pool, `SELECT LENGTH(body) FROM ${prefix}blobs ORDER BY chunk`);
  const total = Buffer.byteLength(long);
  expect(chunks.map(([bytes]) => bytes)).toEqual([
    ...Array.from({ length: Math.floor(total / 262_144) }, () => 262_144),
    total % 262_144,
  ]);
  for (const record of await log.read(slot))
    expect(await log.readBlob(slot, record.blobs?.[0]?.ref ?? "")).toBe(long);
});

test("a text that does not match its hash is damage, not absence", async () => {
  await log.append(slot, [textRecord("1", "long ".repeat(200_000))]);
  const ref = (await log.read(slot))[0]?.blobs?.[0]?.ref ?? "";
  await pool.query(`DELETE FROM ${prefix}blobs WHERE chunk = 1`);
  await expect(log.readBlob(slot, ref)).rejects.toMatchObject({ code: "CORRUPT" });
});

test("a record that is not what was written is damage", async () => {
  await log.append(slot, [textRecord("1", "one"), textRecord("2", "two")]);
  const damages = [
    `body = '{"v":1,"seq":7,"id":"2","callId":"c","at":"","kind":"mark","mark":{}}'`,
    "kind = 'mark'",
    "body = LEFT(body, 10)",
    "body = ''",
  ];
  for (const damage of damages) {
    await pool.query(`UPDATE ${prefix}log SET ${damage} WHERE record_seq = 2`);
    await expect(log.read(slot), damage).rejects.toMatchObject({ code: "CORRUPT" });
  }
});

test("records that stand where the next ones belong fail the append, and nothing is lost", async () => {
  await log.append(slot, [textRecord("1", "one"), textRecord("2", "two")]);
  // As if the table of slots had been emptied by hand.
  await pool.query(`DELETE FROM ${prefix}slots`);
  for (const mode of ["", "STRICT_ALL_TABLES"]) {
    const single = createPool({ uri: inject("mysqlUrl"), connectionLimit: 1 });
    await single.query("SET SESSION sql_mode = ?", [mode]);
    const stubborn = new MysqlConversationLog({ pool: single, tablePrefix: prefix });
    await expect(stubborn.append(slot, [textRecord("3", "three")])).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await single.end();
  }
  expect(idsOf(await log.read(slot))).toEqual(["1", "2"]);
});

test("an append whose answer was lost is repeated without doubling anything", async () => {
  await using network = await proxiedPool();
  const far = new MysqlConversationLog({ pool: network.pool, tablePrefix: prefix });
  const records = [textRecord("1", "one"), textRecord("2", "two")];
  await far.read(slot);
  network.proxy.losesReply = (request) => request.includes("COMMIT");
  await expect(far.append(slot, records)).rejects.toMatchObject({ code: "UNKNOWN_OUTCOME" });
  network.proxy.losesReply = undefined;
  expect(idsOf(await log.read(slot))).toEqual(["1", "2"]);
  await far.append(slot, [...records, textRecord("3", "three")]);
  expect(idsOf(await log.read(slot))).toEqual(["1", "2", "3"]);
});

test("a long text that a delete took away while it was being appended is there all the same", async () => {
  await log.append(slot, [textRecord("first", "one")]);
  // As a delete does: the slot's row is held, texts go, and the append waits for the row with its text written.
  const deleting = await pool.getConnection();
  await deleting.beginTransaction();
  await deleting.query(`SELECT 1 FROM ${prefix}slots FOR UPDATE`);
  const appended = log.append(slot, [textRecord("long", "long ".repeat(100_000))]);
  const chunks = `SELECT 1 FROM ${prefix}blobs`;
  await eventually(async () => (await rowsOf(pool, chunks)).length === 2);
  await deleting.query(`DELETE FROM ${prefix}blobs`);
  await deleting.commit();
  deleting.release();
  await appended;
  const ref = (await log.read(slot)).at(-1)?.blobs?.[0]?.ref ?? "";
  expect(await log.readBlob(slot, ref)).toBe("long ".repeat(100_000));
});

test("a delete of a long log leaves nothing behind, not even the slot's row", async () => {
  const records = Array.from({ length: 1_234 }, (_, index) => textRecord(`r${index}`, "text"));
  await log.append(slot, [...records, textRecord("long", "long ".repeat(20_000))]);
  expect(await log.delete(slot)).toBe(true);
  for (const table of ["log", "blobs", "slots"])
    expect(await rowsOf(pool, `SELECT 1 FROM ${prefix}${table}`)).toEqual([]);
});

test("a delete leaves a slot's state and lease alone", async () => {
  await log.append(slot, [textRecord("1", "one")]);
  await pool.query(`UPDATE ${prefix}slots SET rev = '1.x', n = 3`);
  await log.delete(slot);
  expect(await rowsOf(pool, `SELECT n, log_seq FROM ${prefix}slots WHERE k = ?`, [k])).toEqual([
    [3, 0],
  ]);
  await log.append(slot, [textRecord("1", "again")]);
  expect(idsOf(await log.read(slot))).toEqual(["1"]);
});

test("a message of many megabytes in small pieces is refused before anything is sent", async () => {
  const message = userMessage(
    Array.from({ length: 300 }, () => ({ type: "text" as const, text: "x".repeat(60_000) })),
  );
  const record = { ...textRecord("1", ""), message };
  await expect(log.append(slot, [record])).rejects.toMatchObject({ code: "TOO_LARGE" });
  expect(await log.read(slot)).toEqual([]);
});
