import { join } from "node:path";
import { movesClocks, tempDirectory } from "@holdfast/testing";
import { afterAll, expect, test } from "vitest";
import { describeViolations, figures } from "./report.js";
import { type HistoryReport, runHistory } from "./run-history.js";
import { storeKinds } from "./store-rig.js";

const isLong = process.env["HOLDFAST_LONG"] === "1";
const minutes = Number(process.env["HOLDFAST_HISTORY_MINUTES"] ?? 20);
/** One seed makes one history; without one, a long run makes many. */
const givenSeed = process.env["HOLDFAST_HISTORY_SEED"];
const size = isLong
  ? { durationMs: 40_000, nodes: 3, clients: 8, sessions: 6, leaseMs: 4_000 }
  : { durationMs: 5_000, nodes: 2, clients: 5, sessions: 4, leaseMs: 2_000 };
/** Schedules in which a few seconds hold kills at different instants and a stop past the lease. */
const smallSeeds = { json: "json-9", redis: "redis-5", mysql: "mysql-1" };
const totalMs = isLong && givenSeed === undefined ? minutes * 60_000 : 0;

const reports: HistoryReport[] = [];

test.each(storeKinds)(
  "a history of nodes, clients and faults on %s keeps every promise",
  // A short one mostly waits, and can do so beside the others.
  { timeout: totalMs + 600_000, concurrent: !isLong },
  async (kind) => {
    const began = performance.now();
    const mine: HistoryReport[] = [];
    do {
      const seed = givenSeed ?? (isLong ? `${kind}-${Date.now().toString(36)}` : smallSeeds[kind]);
      const home = await tempDirectory("holdfast-history-");
      const directory = join(process.env["HOLDFAST_HISTORY_TRACES"] ?? home.path, kind, seed);
      process.stdout.write(`history on ${kind}: HOLDFAST_HISTORY_SEED=${seed}\n`);
      const report = await runHistory({ kind, seed, directory, ...size });
      if (report.violations.length > 0) process.stdout.write(`${describeViolations(report)}\n`);
      await home.cleanup();
      mine.push(report);
      reports.push(report);
    } while (performance.now() - began < totalMs);
    const broken = mine.filter(({ violations }) => violations.length > 0);
    expect(broken.map(describeViolations)).toEqual([]);
  },
);

afterAll(() => {
  if (!isLong) return;
  const clocks = movesClocks ? "" : "\n\nClocks were not moved: libfaketime is not installed.";
  process.stdout.write(`\n${figures(reports)}${clocks}\n`);
});
