import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tempDirectory } from "@holdfast/testing";
import { expect, inject, test } from "vitest";

const script = fileURLToPath(new URL("many-sessions.mjs", import.meta.url));

/**
 * The long run goes past the bounds of every cache, the largest of which holds 10,000 sessions, before the rounds that are
 * compared. The short one shows that a session costs no more than it does in the caches.
 */
const isLong = process.env["HOLDFAST_LONG"] === "1";
const [sessions, rounds] = isLong ? [30_000, 4] : [100, 3];
/** 50 MB for a million sessions, or what a session may take in caches that are not full yet. */
const bytesPerSession = isLong ? 50 : 5_000;
/** Differences of the heap from one measurement to the next that have nothing to do with sessions. */
const noiseBytes = 1_000_000;

test("a process keeps nothing of the sessions it has served beyond its caches", async () => {
  await using workspace = await tempDirectory();
  const args = [script, inject("redisUrl"), `many-${randomUUID()}:`, workspace.path];
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--expose-gc",
    ...[...args, String(sessions), String(rounds)],
  ]);
  const { heap } = JSON.parse(stdout) as { readonly heap: readonly number[] };
  const [, before = 0] = heap;
  const grown = (heap.at(-1) ?? 0) - before;
  const counted = sessions * (rounds - 2);
  console.log(`heap of one process: ${Math.round(grown / counted)} bytes per session served`);
  expect(grown).toBeLessThan(counted * bytesPerSession + noiseBytes);
});
