import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { compaction } from "@holdfast/compaction";
import { type AgentEvent, type Model, type Tool, tool } from "@holdfast/core";
import * as s from "@holdfast/core/plugin-kit/schema";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { demoSlot, sampleProject } from "../demo-files.js";

/** Options of {@link coderAgent}. */
export interface CoderOptions {
  readonly model: Model;
  /** Directory of the store; the same as `--store json:<directory>`. */
  readonly store: string;
  readonly workspace: string;
  /** Tokens at which compaction begins. */
  readonly triggerTokens: number;
  onEvent(event: AgentEvent): void;
}

/** Builds the demo's agent. Three plugins keep its context small and its memory long. */
export function coderAgent(options: CoderOptions): HarnessAgent {
  const { model, store, workspace, triggerTokens } = options;
  return (
    HarnessAgent.builder()
      .name(demoSlot.agentId)
      .model(model)
      .systemPrompt("You help to look after the code of a small ferry line.")
      .workspace(workspace)
      // Data the operating system holds survives a kill -9; a power failure would need "fsync".
      .distributedStore(new JsonFileAgentStateStore({ root: store, durability: "os" }).companions())
      .tools(fetchDepartures)
      .use(
        compaction({
          triggerTokens,
          keepTokens: Math.floor(triggerTokens / 3),
          // In proportion to the window: in a small one messages are compacted early.
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
      .onEvent((event) => options.onEvent(event))
      .build()
  );
}

/** Stands for a tool of a real agent whose answer is far larger than expected. */
const fetchDepartures: Tool = tool({
  name: "fetch_departures",
  description: "Fetches all departures of a year from the records of the line, as CSV.",
  input: s.object({ year: s.int() }),
  readOnly: true,
  async execute({ year }) {
    return readFile(join(sampleProject(), "records", `departures-${year}.csv`), "utf8").catch(
      () => `There are no records of ${year}.`,
    );
  },
});
