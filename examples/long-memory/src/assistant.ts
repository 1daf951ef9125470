import { join } from "node:path";
import type { AgentEvent } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import type { ScriptedModel } from "@holdfast/testing";
import { scriptedModel } from "@holdfast/testing";
import { answer } from "./answer.js";
import { takeNotes } from "./take-notes.js";

/** Directory in which an assistant keeps everything, and the day it is for it. */
export interface AssistantOptions {
  readonly home: string;
  /** `YYYY-MM-DD`; the time of day is the real one. */
  readonly day: string;
  readonly onEvent?: ((event: AgentEvent) => void) | undefined;
}

/** An agent that remembers: the one line is `.use(memoryFlush(…))`. Its models are scripts, so that it runs offline. */
export function makeAssistant({ home, day, onEvent }: AssistantOptions): {
  readonly agent: HarnessAgent;
  readonly model: ScriptedModel;
} {
  const model = scriptedModel(answer);
  const noteTaker = scriptedModel(takeNotes, { id: "note-taker" });
  const agent = HarnessAgent.create({
    name: "assistant",
    model,
    systemPrompt: "You help a person at home.",
    workspace: join(home, "workspace"),
    stateStore: new JsonFileAgentStateStore({ root: join(home, "state") }),
    // Every call is a process here, which ends with it.
    plugins: [memoryFlush({ model: noteTaker, finishOnClose: true })],
    clock: () => new Date(`${day}T${new Date().toISOString().slice(11)}`),
    onEvent,
  });
  return { agent, model };
}
