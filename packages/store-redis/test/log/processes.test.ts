import type { LogRecord } from "@holdfast/core";
import { withBlobs } from "@holdfast/core/store-kit";
import { scaled, spawnScript } from "@holdfast/testing";
import { expect, test } from "vitest";
import { ownPrefix, redisLogs } from "./redis-logs.js";
import { slot } from "./sample-records.js";

const redis = redisLogs();
const script = new URL("./children/appender.mjs", import.meta.url);

/** Every record of the slot, page by page. */
async function allRecords(log: ReturnType<typeof redis.open>): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (;;) {
    const page = await log.read(slot, { after: records.at(-1)?.seq ?? 0, limit: 97 });
    if (page.length === 0) return records;
    records.push(...page);
  }
}

/** What a process appended: its own two records of each batch. */
function ownIds(name: string, batches: number): string[] {
  return Array.from({ length: batches }, (_, at) => [`${name}.${at}.1`, `${name}.${at}.2`]).flat();
}

test("three processes that append to one session keep their order, and lose and double nothing", async () => {
  const keyPrefix = ownPrefix();
  const batches = scaled(80, 5_000);
  const names = ["a", "b", "c"];
  const processes = names.map((name) =>
    spawnScript(script, [redis.url, keyPrefix, name, "0", `${batches}`, "200"]),
  );
  for (const each of processes) {
    expect(await each.exited, each.stderr).toEqual({ code: 0, signal: null });
    expect(each.lines.filter((line) => line.startsWith("ok"))).toHaveLength(batches);
  }
  const records = await allRecords(redis.open({ keyPrefix }));
  const ids = records.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(batches * (names.length * 2 + 1));
  for (const name of names)
    expect(ids.filter((id) => id.startsWith(`${name}.`))).toEqual(ownIds(name, batches));
  expect(records.map(({ seq }) => seq)).toEqual(ids.map((_, at) => at + 1));
});

test("a process killed at any moment leaves whole records: all it acknowledged, and of the rest whole appends", async () => {
  const keyPrefix = ownPrefix();
  const log = redis.open({ keyPrefix });
  let done = 0;
  for (let round = 0; round < scaled(4, 100); round++) {
    // Every other round the texts are long, so that the kill may come while they are stored.
    const bytes = round % 2 === 0 ? "300" : "1500000";
    const args = [redis.url, keyPrefix, "a", `${done}`, `${done + 10_000}`, bytes];
    await using child = spawnScript(script, args);
    await child.line(`ok ${done + Math.floor(Math.random() * 4)}`);
    await child.kill9();
    const acknowledged = child.lines.filter((line) => line.startsWith("ok")).length;
    const records = await allRecords(log);
    const ids = records.map(({ id }) => id);
    expect(ids.length % 3).toBe(0);
    expect(ids.length / 3).toBeGreaterThanOrEqual(done + acknowledged);
    expect(ids.length / 3).toBeLessThanOrEqual(done + acknowledged + 1);
    expect(ids.filter((id) => id.startsWith("a."))).toEqual(ownIds("a", ids.length / 3));
    for (const record of records.slice(-3))
      expect((await withBlobs(log, slot, record)).message?.id).toBe(record.id);
    // The next one repeats what may or may not be there.
    done += acknowledged;
  }
});
