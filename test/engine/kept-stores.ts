import { type AgentStateStore, InMemoryAgentStateStore } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { tempDirectory } from "@holdfast/testing";
import { onTestFinished } from "vitest";

/** Stores that need no server: with one step for lease, log and state, with one for each, and on disk. */
export const keptStores = ["memory, fused", "memory, unfused", "files"] as const;

/** An empty store of the running test's own. */
export async function newStore(kind: (typeof keptStores)[number]): Promise<AgentStateStore> {
  if (kind !== "files") return new InMemoryAgentStateStore({ fused: kind === "memory, fused" });
  const directory = await tempDirectory();
  onTestFinished(directory.cleanup);
  return new JsonFileAgentStateStore({ root: directory.path, durability: "os" });
}
