import type { LogRecord } from "@holdfast/core";
import { withBlobs } from "@holdfast/core/store-kit";
import { MysqlConversationLog } from "@holdfast/store-mysql";
import { eventually, type SpawnedScript, scaled, spawnScript } from "@holdfast/testing";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { dropTables, freshPrefix, testPool } from "./fresh-tables.js";
import { idsOf, loggedSlot as slot } from "./log-records.js";

const pool = testPool();
let prefix: string;
let log: MysqlConversationLog;

beforeEach(() => {
  prefix = freshPrefix();
  log = new MysqlConversationLog({ pool, tablePrefix: prefix });
});
afterEach(() => dropTables(pool, prefix));

test("three processes that append to one session lose, double and reorder nothing", async () => {
  const names = ["left", "middle", "right"];
  const batches = scaled(40, 1_000);
  const writers = names.map((name) => appender(name, 0, batches));
  await Promise.all(writers.map((writer) => writer.line("ready")));
  for (const writer of writers) writer.send("go");
  // A reader that pages on meanwhile sees each record once: seqs become visible in their order.
  const seen: LogRecord[] = [];
  const readOn = async (): Promise<number> => {
    const page = await log.read(slot, { after: seen.at(-1)?.seq ?? 0, limit: 50 });
    return seen.push(...page);
  };
  let ended = 0;
  for (const writer of writers) void writer.exited.then(() => ended++);
  while (ended < writers.length) await readOn();
  for (let before = -1; before < seen.length; ) {
    before = seen.length;
    await readOn();
  }
  for (const writer of writers)
    expect(await writer.exited, writer.stderr).toMatchObject({ code: 0 });
  const ids = idsOf(await everyRecord());
  expect(idsOf(seen)).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(batches * (names.length * 2 + 1));
  for (const name of names)
    expect(ids.filter((id) => id.startsWith(name))).toEqual(
      Array.from({ length: batches }, (_, at) => [`${name}.${at}.1`, `${name}.${at}.2`]).flat(),
    );
});

test("a process killed at any moment leaves whole appends, and all it acknowledged", async () => {
  const rounds = scaled(6, 100);
  let acknowledged = 0;
  for (let round = 0; round < rounds; round++) {
    const writer = appender("only", acknowledged, 1_000_000, round % 2 === 0 ? 40_000 : 100);
    await writer.line("ready");
    writer.send("go");
    const fatal = acknowledged + 1 + Math.floor(Math.random() * 10);
    await eventually(() => writer.lines.includes(`intent ${fatal}`), { intervalMs: 1 });
    await writer.kill9();
    for (const line of writer.lines)
      if (line.startsWith("ok ")) acknowledged = Number(line.slice(3)) + 1;
    const records = await everyRecord();
    const ids = idsOf(records);
    const expected = Array.from({ length: acknowledged + 1 }, (_, at) => [
      ...[`only.${at}.1`, `common.${at}`, `only.${at}.2`],
    ]).flat();
    // All of the append that was under way, or nothing of it.
    expect([acknowledged * 3, acknowledged * 3 + 3]).toContain(ids.length);
    expect(ids).toEqual(expected.slice(0, ids.length));
    for (const record of records) await withBlobs(log, slot, record);
  }
  expect(acknowledged).toBeGreaterThan(rounds);
});

function appender(name: string, first: number, last: number, bytes = 100): SpawnedScript {
  const args = [inject("mysqlUrl"), prefix, name, `${first}`, `${last}`, `${bytes}`];
  return spawnScript(new URL("./children/appender.mjs", import.meta.url), args);
}

async function everyRecord(): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (let page = await log.read(slot, { after: 0, limit: 500 }); page.length > 0; ) {
    records.push(...page);
    page = await log.read(slot, { after: page.at(-1)?.seq, limit: 500 });
  }
  return records;
}
