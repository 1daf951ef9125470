import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { compaction } from "@holdfast/compaction";
import { type AgentEvent, type Model, type Tool, tool } from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { z } from "zod";
import { demoSlot, sampleProject } from "./stage.js";

/** What the demo's agent is put together with. */
export interface CoderParts {
  readonly model: Model;
  /** Directory of the store; the same as `--store json:<directory>`. */
  readonly store: string;
  readonly workspace: string;
  /** No request of the agent has this many tokens. */
  readonly triggerTokens: number;
  onEvent(event: AgentEvent): void;
}

/** The demo's agent: three plugins are all that keeps its context small and its memory long. */
export function coder(parts: CoderParts): HarnessAgent {
  const { model, store, workspace, triggerTokens } = parts;
  return (
    HarnessAgent.builder()
      .name(demoSlot.agentId)
      .model(model)
      .systemPrompt("You help to look after the code of a small ferry line.")
      .workspace(workspace)
      // What the operating system has outlives a kill -9; waiting for the disk as well is for sessions that matter.
      .distributedStore(new JsonFileAgentStateStore({ root: store, durability: "os" }).companions())
      .tools(fetchDepartures)
      .use(
        compaction({
          triggerTokens,
          keepTokens: Math.floor(triggerTokens / 3),
          // In proportion: with a small window messages do not stay for long.
          truncateArgs: {
            triggerMessages: Math.floor(triggerTokens / 600),
            keepMessages: Math.floor(triggerTokens / 800),
            maxArgLength: 600,
          },
        }),
      )
      .use(toolResultEviction())
      .use(memoryFlush({ finishOnClose: true }))
      .persistence("step")
      .onEvent((event) => parts.onEvent(event))
      .build()
  );
}

/** Stands for whatever a real agent fetches from elsewhere: its answer is far larger than anybody expected. */
const fetchDepartures: Tool = tool({
  name: "fetch_departures",
  description: "Fetches all departures of a year from the records of the line, as CSV.",
  input: z.object({ year: z.int() }),
  readOnly: true,
  async execute({ year }) {
    return readFile(join(sampleProject, "records", `departures-${year}.csv`), "utf8").catch(
      () => `There are no records of ${year}.`,
    );
  },
});
