import { randomUUID } from "node:crypto";
import { type DistributedStore, InMemoryAgentStateStore } from "@holdfast/core";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { describe, onTestFinished, test } from "vitest";
import { newPlace } from "../fleet/every-store.js";
import { ControlledSession } from "./controlled-session.js";
import { controlSteps } from "./random-control.js";

/** Two nodes of a store of the running test's own. */
async function twoNodes(kind: "memory" | "files" | "redis" | "mysql") {
  if (kind !== "memory") {
    const place = await newPlace(kind, 30_000);
    onTestFinished(() => place[Symbol.asyncDispose]());
    return [place.open(), place.open()];
  }
  const stateStore = new InMemoryAgentStateStore();
  const store: DistributedStore = { ...stateStore.companions(), stateStore };
  return [store, store];
}

/** A store and a number of runs. */
type Runs = readonly [kind: Parameters<typeof twoNodes>[0], numRuns: number];
const usual: readonly Runs[] = [
  ["memory", 8],
  ["mysql", 2],
];
const long: readonly Runs[] = [
  ["memory", 1_000],
  ["files", 200],
  ["redis", 200],
  ["mysql", 200],
];

describe.each(scaled(usual, long))("on %s", (kind, numRuns) => {
  test("whatever people do, in whatever order: compaction touches no section, no task and no open ask, each ask is answered once and the end of each task told once", async () => {
    const stores = await twoNodes(kind);
    const property = fc.asyncProperty(controlSteps, async (steps) => {
      const session = new ControlledSession(stores, randomUUID());
      for (const step of steps) await session.take(step);
      await session.end();
    });
    await fc.assert(property, { numRuns, endOnFailure: true });
  });
});
