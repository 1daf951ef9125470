import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

interface Cost {
  readonly bytesWritten: number;
  readonly bytesRead: number;
  readonly jsonParsed: number;
  readonly jsonWritten: number;
  readonly sameObjects: boolean;
  readonly messages: number;
}

const script = fileURLToPath(new URL("warm-turns.mjs", import.meta.url));
let root: string;
let short: Cost;
let long: Cost;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "holdfast-cost-"));
  short = await measure(10);
  long = await measure(5_000);
  const ratio = (key: "bytesWritten" | "bytesRead" | "jsonParsed" | "jsonWritten") =>
    `${key} ${Math.round(short[key])} → ${Math.round(long[key])} (${(long[key] / Math.max(1, short[key])).toFixed(2)}x)`;
  console.log(
    `per warm turn, 10 → 5,000 prior messages: ${(["bytesWritten", "bytesRead", "jsonParsed", "jsonWritten"] as const).map(ratio).join(", ")}`,
  );
});

afterAll(() => rm(root, { recursive: true, force: true }));

test("a turn on 5,000 messages writes at most 1.5 times the bytes of a turn on 10", () => {
  expect(long.messages).toBeGreaterThan(5_000);
  expect(long.bytesWritten / short.bytesWritten).toBeLessThanOrEqual(1.5);
});

test("a warm turn does not read the history again", () => {
  expect(long.bytesRead / short.bytesRead).toBeLessThanOrEqual(1.5);
});

test("a warm turn neither parses nor serialises the history again", () => {
  expect(long.jsonParsed / short.jsonParsed).toBeLessThanOrEqual(1.5);
  expect(long.jsonWritten / short.jsonWritten).toBeLessThanOrEqual(1.5);
});

test("a warm turn shows the model the very same message objects, not copies", () => {
  expect(short.sameObjects).toBe(true);
  expect(long.sameObjects).toBe(true);
});

async function measure(prior: number): Promise<Cost> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(prior), root]);
  return JSON.parse(stdout) as Cost;
}
