import { appendFileSync, readFileSync, statSync } from "node:fs";
import type { LogRecord } from "@holdfast/core";
import { JsonlConversationLog } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import { beforeAll, expect, test } from "vitest";
import { runLogProcess } from "./log-process.js";
import { idsOf, logFile, loggedSlot, pagedBack, pagedOn, record, records } from "./log-records.js";
import { temporaryRoot } from "./temporary-root.js";

const count = scaled(5_000, 20_000);
const root = temporaryRoot();
const log = new JsonlConversationLog({ root, durability: "os" });

beforeAll(async () => {
  // Every line length around a chunk's end comes up, and a few lines longer than any chunk.
  for (let at = 0; at < count; at += 250)
    await log.append(
      loggedSlot,
      Array.from({ length: 250 }, (_, index) => {
        const number = at + index + 1;
        return record(
          `r${number}`,
          number % 1_700 === 0 ? lone(1_300_000) : "x".repeat(number % 700),
        );
      }),
    );
});

test("paging by any number, back or on, visits what one whole read returns", async () => {
  const whole = await log.read(loggedSlot, { limit: count + 1 });
  expect(idsOf(whole)).toEqual(Array.from({ length: count }, (_, index) => `r${index + 1}`));
  expect(whole.map(textLength)).toEqual(
    Array.from({ length: count }, (_, index) =>
      (index + 1) % 1_700 === 0 ? 1_300_000 : (index + 1) % 700,
    ),
  );
  const seqs = whole.map(({ seq }) => seq);
  expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  for (const limit of [97, 1_000, count]) {
    expect((await pagedBack(log, loggedSlot, limit)).map(({ seq }) => seq)).toEqual(seqs);
    expect((await pagedOn(log, loggedSlot, limit)).map(({ seq }) => seq)).toEqual(seqs);
  }
});

test("before and after may be any number, and mean what they say", async () => {
  const small = new JsonlConversationLog({ root: temporaryRoot(), durability: "os" });
  await small.append(loggedSlot, records("a", 3));
  await small.append(loggedSlot, records("b", 3, "zwölf"));
  const whole = await small.read(loggedSlot);
  const near = whole.flatMap(({ seq }) => [-2, -1, 0, 0.5, 1, 2, 100].map((by) => seq + by));
  for (const seq of [-1, 0, 1, 2, 50, 1_000_000, ...near]) {
    const below = whole.filter((each) => each.seq < seq);
    const above = whole.filter((each) => each.seq > seq);
    expect(await small.read(loggedSlot, { before: seq })).toEqual(below);
    expect(await small.read(loggedSlot, { before: seq, limit: 2 })).toEqual(below.slice(-2));
    expect(await small.read(loggedSlot, { after: seq })).toEqual(above);
    expect(await small.read(loggedSlot, { after: seq, limit: 2 })).toEqual(above.slice(0, 2));
    expect(await small.read(loggedSlot, { after: seq, before: seq + 400 })).toEqual(
      above.filter((each) => each.seq < seq + 400),
    );
  }
  expect(await small.read(loggedSlot, { before: Number.POSITIVE_INFINITY })).toEqual(whole);
  expect(await small.read(loggedSlot, { after: Number.NEGATIVE_INFINITY })).toEqual(whole);
});

test("the last 20 records of a large file cost its last part, not all of it", async () => {
  const large = temporaryRoot();
  const writer = new JsonlConversationLog({ root: large, durability: "os" });
  for (let batch = 0; batch < 30; batch++)
    await writer.append(loggedSlot, records(`${batch}.`, 500, "x".repeat(2_000)));
  expect(statSync(logFile(large)).size).toBeGreaterThan(30_000_000);
  const { lines } = await runLogProcess({ root: large, steps: [{ read: 20 }, { read: 20 }] });
  // What is read the first time includes code that is loaded on the way.
  const [, read, bytes] = lines[1]?.split(" ") ?? [];
  expect(read).toBe("20");
  expect(Number(bytes)).toBeGreaterThan(20 * 2_000);
  expect(Number(bytes)).toBeLessThan(1_500_000);
});

test("a line that stands twice, as when two processes append it at once, is one record on every page", async () => {
  const twice = temporaryRoot();
  const writer = new JsonlConversationLog({ root: twice, durability: "os" });
  await writer.append(loggedSlot, records("a", 40));
  const first = await writer.read(loggedSlot);
  const copy = readFileSync(logFile(twice), "utf8").split("\n").slice(1).join("\n");
  appendFileSync(logFile(twice), copy);
  await writer.append(loggedSlot, records("b", 5));
  appendFileSync(logFile(twice), copy);
  const expected = [...idsOf(first), ...idsOf(records("b", 5))];
  for (const limit of [1, 3, 7, 40, 45, 100]) {
    expect(idsOf(await pagedBack(writer, loggedSlot, limit))).toEqual(expected);
    expect(idsOf(await pagedOn(writer, loggedSlot, limit))).toEqual(expected);
  }
  // The first one counts, not a later one.
  expect((await writer.read(loggedSlot)).slice(0, 40)).toEqual(first);
  const { hits } = await writer.search({ ...loggedSlot, text: "a7", limit: 50 });
  expect(hits.map((hit) => hit.record.seq)).toEqual([first[6]?.seq]);
});

/** JSON writes a lone surrogate as six characters, and it keeps a text from becoming a blob. */
function lone(length: number): string {
  return `\ud800${"y".repeat(length - 1)}`;
}

function textLength({ message }: LogRecord): number {
  const [block] = message?.content ?? [];
  return block?.type === "text" ? block.text.length : -1;
}
