import { readFileSync, statSync } from "node:fs";
import { JsonlConversationLog, type StoreReport } from "@holdfast/store-json";
import { scaled } from "@holdfast/testing";
import { expect, test } from "vitest";
import { type LogStep, runLogProcess } from "./log-process.js";
import { idsOf, logFile, loggedSlot, pagedBack, pagedOn } from "./log-records.js";
import { temporaryRoot } from "./temporary-root.js";

test("two processes that append to one session at once lose, double and reorder nothing", async () => {
  for (let round = 0; round < scaled(1, 20); round++) {
    const root = temporaryRoot();
    const batches = 150;
    const names = ["left", "right"];
    let started: () => void = () => undefined;
    const bothReady = new Promise<void>((resolve) => {
      started = resolve;
    });
    let ready = 0;
    const onReady = () => {
      if (++ready === names.length) started();
      return bothReady;
    };
    const runs = await Promise.all(
      names.map((name) => {
        const steps: LogStep[] = Array.from({ length: batches }, (_, batch) => ({
          // What both append is a repeat for one of them, or a race.
          append: [`${name}.${batch}.1`, `common.${batch}`, `${name}.${batch}.2`],
          bytes: batch % 25 === 0 ? 20_000 : 100,
        }));
        return runLogProcess({ root, steps, durability: "os", onReady });
      }),
    );
    for (const { lines } of runs)
      expect(lines.filter((line) => line.startsWith("ok"))).toHaveLength(batches);
    // Repeats further apart than a megabyte would not be recognised.
    expect(statSync(logFile(root)).size).toBeLessThan(1_048_576);
    const reports: StoreReport[] = [];
    const log = new JsonlConversationLog({ root, onReport: (report) => reports.push(report) });
    const ids = idsOf(await pagedOn(log, loggedSlot, 101));
    expect(idsOf(await pagedBack(log, loggedSlot, 77))).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(batches * 5);
    for (const name of names)
      expect(ids.filter((id) => id.startsWith(name))).toEqual(
        Array.from({ length: batches }, (_, at) => [`${name}.${at}.1`, `${name}.${at}.2`]).flat(),
      );
    expect(reports).toEqual([]);
  }
});

test("what one process appended, another one appends again without doubling it", async () => {
  const root = temporaryRoot();
  const ids = Array.from({ length: 300 }, (_, index) => `r${index}`);
  const steps = [{ append: ids }, { append: ids.slice(100) }];
  await runLogProcess({ root, steps });
  const size = readFileSync(logFile(root)).length;
  const again = await runLogProcess({ root, steps: [...steps, { append: ["r5", "new", "r299"] }] });
  expect(again.lines.filter((line) => line.startsWith("ok"))).toHaveLength(3);
  const lines = readFileSync(logFile(root)).subarray(size).toString().split("\n");
  expect(lines.filter((line) => line !== "").map((line) => JSON.parse(line).id)).toEqual(["new"]);
  const log = new JsonlConversationLog({ root });
  expect(idsOf(await log.read(loggedSlot, { limit: 1_000 }))).toEqual([...ids, "new"]);
});

test("killed at any moment, a process leaves every record it acknowledged, once and in order", async () => {
  const root = temporaryRoot();
  const rounds = scaled(6, 200);
  let acknowledged = 0;
  let killed = 0;
  for (let round = 0; round < rounds; round++) {
    const fatal = acknowledged + Math.floor(Math.random() * 12);
    // From the first that was not acknowledged: perhaps it was stored all the same, whole or in part.
    const steps = Array.from({ length: acknowledged + 200 }, (_, batch) => batch)
      .slice(acknowledged)
      .map((batch) => ({ append: idsOfBatch(batch), bytes: round % 2 === 0 ? 50_000 : 200 }));
    const first = acknowledged;
    const run = await runLogProcess({
      root,
      steps,
      durability: round % 4 < 2 ? "fsync" : "os",
      onLine: (line, kill) => {
        if (line.startsWith("ok ")) acknowledged++;
        // At a random moment of a random append: 0 to 3 ms after it was announced.
        if (line === `intent ${fatal - first}`) setTimeout(kill, Math.random() * 3);
      },
    });
    expect(run.lines.filter((line) => !/^(ok|intent) \d+$/.test(line))).toEqual([]);
    if (run.signal === "SIGKILL") killed++;
    const log = new JsonlConversationLog({ root });
    const ids = idsOf(await pagedBack(log, loggedSlot, 500));
    const expected = Array.from({ length: acknowledged + 1 }, (_, batch) =>
      idsOfBatch(batch),
    ).flat();
    expect(ids).toEqual(expected.slice(0, ids.length));
    expect(ids.length).toBeGreaterThanOrEqual(acknowledged * 4);
  }
  expect(killed).toBe(rounds);
  expect(acknowledged).toBeGreaterThan(rounds);
});

function idsOfBatch(batch: number): string[] {
  return [1, 2, 3, 4].map((part) => `${batch}.${part}`);
}
