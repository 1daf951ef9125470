import { scaled } from "@holdfast/testing";
import { beforeAll, expect, test } from "vitest";
import { inParallel } from "../src/io/in-parallel.js";
import type { ScriptRun } from "./run-script.js";
import { expectUsable, expectWholeState, runSaver } from "./saver-process.js";
import { countCalls, killingAt, needStrace, spread } from "./strace.js";
import { temporaryRoot } from "./temporary-root.js";

beforeAll(needStrace, 300_000);

/** Fourteen turns with first saves, edits, a rotation, a delete and a new start after it. */
const scenario = { turns: 14, bytes: 12_000, seed: 7 };

/** Each call that changes the disk, and at how many of its occurrences an everyday run stops the process. */
const points = [
  ["mkdir", 1],
  ["write", 3],
  ["fdatasync", 2],
  ["fsync", 3],
  ["link", 2],
  ["unlink", 2],
] as const;

test("stopped at any system call, a session is what was last acknowledged, or that and the whole next save", async () => {
  let whole: ScriptRun | undefined;
  const counts = await countCalls(
    points.map(([name]) => name),
    async (wrapper) => {
      whole = await runSaver({ ...scenario, root: temporaryRoot(), wrapper });
    },
  );
  expect(whole?.lines).toContain("end");
  const stops = points.flatMap(([name, usual]) => {
    const count = counts.get(name) ?? 0;
    expect(count, `the scenario makes ${name} calls`).toBeGreaterThan(0);
    return spread(count, scaled(usual, count)).map((at) => ({ name, at }));
  });
  const killed = await inParallel(stops, 2, async ({ name, at }) => {
    const root = temporaryRoot();
    const run = await runSaver({ ...scenario, root, wrapper: killingAt(name, at) });
    await expectWholeState(root, run.lines, "deleted");
    await expectUsable(root);
    return !run.lines.includes("end");
  });
  // Counts differ a little from run to run, so the last one or two may come after the end.
  expect(killed.filter(Boolean).length).toBeGreaterThan(stops.length * 0.8);
});
