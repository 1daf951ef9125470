import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Plugin } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";
import { type Comparison, compare } from "../measure/compare.js";

const effort = { warmUp: 20, rounds: 20, batch: 5 };
/** Time that a model takes to note facts; a call that waited for it would be some fifty times as slow. */
const NOTING_MS = 300;

/** Measures a call of an agent with memory against the same without, by how often it flushes. */
export async function measureMemoryWait(): Promise<Record<"throttled" | "always", Comparison>> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-memory-bench-"));
  const noteTaker = scriptedModel(() => ({
    text: "- The user asked for the time.",
    delayMs: NOTING_MS,
  }));
  const agents: HarnessAgent[] = [];
  const calls = (name: string, plugins: readonly Plugin[]): (() => Promise<void>) => {
    const agent = HarnessAgent.create({
      name,
      model: scriptedModel(() => "It is noon."),
      workspace: join(directory, name, "workspace"),
      stateStore: new JsonFileAgentStateStore({ root: join(directory, name, "state") }),
      plugins,
    });
    agents.push(agent);
    return async () => {
      await agent.call("What time is it?", { userId: "ann", sessionId: "bench" });
    };
  };
  try {
    const throttled = await compare(
      calls("floor", []),
      calls("throttled", [memoryFlush({ model: noteTaker })]),
      effort,
    );
    const always = await compare(
      calls("floor-2", []),
      calls("always", [memoryFlush({ model: noteTaker, flushTrigger: "always" })]),
      effort,
    );
    return { throttled, always };
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
    rmSync(directory, { recursive: true, force: true });
  }
}
