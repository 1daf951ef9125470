import {
  type AgentEvent,
  InMemoryAgentStateStore,
  InProcessSessionGate,
  type Message,
  type Model,
  type ModelChunk,
  ReActAgent,
  type ReActAgentOptions,
  tool,
} from "@holdfast/core";
import * as z from "zod";
import { type HistoryRecord, sessionRecords } from "../src/run/session-records.js";

/** A call whose process was killed, and that another one went on with. */
export interface KilledRun {
  /** Events as a reader of the call gets them. */
  readonly events: readonly AgentEvent[];
  /** Events of the process that went on alone, as its own caller gets them. */
  readonly resumed: readonly AgentEvent[];
  /** Messages of the session in the end. */
  readonly context: readonly Message[];
  readonly records: readonly HistoryRecord[];
}

/** How a process is killed. */
export interface Kill {
  /** Replies of the turn that call a tool. */
  readonly steps: number;
  /** Event after which nothing of the process happens any more. */
  readonly instant: number;
  /** Last events that no reader gets. */
  readonly lost: number;
}

const ctx = { userId: "alice", sessionId: "trip", callId: "c" };
const forever = () => new Promise<never>(() => undefined);

/** Says what follows from the request alone, each word once in a turn: a run that goes on says again what was not saved. */
function wordyModel(steps: number, isDead: () => boolean): Model {
  return {
    id: "wordy",
    async *stream({ messages }): AsyncGenerator<ModelChunk> {
      const step = messages.filter(({ role }) => role === "assistant").length;
      for (const word of ["a", "b", "c"]) {
        if (isDead()) await forever();
        yield { type: "text_delta", text: `<${step}${word}>` };
      }
      if (step < steps)
        for (const id of ["x", "y"])
          yield { type: "tool_call", id: `${id}${step}`, name: "look", input: {} };
      const usage = { inputTokens: 1, outputTokens: 1 };
      yield { type: "finish", reason: step < steps ? "tool_calls" : "stop", usage };
    },
  };
}

function nodeOf(options: Partial<ReActAgentOptions>, steps: number, isDead: () => boolean) {
  const look = tool({
    name: "look",
    description: "Looks.",
    input: z.object({}),
    execute: () => (isDead() ? forever() : "seen"),
  });
  const gate = new InProcessSessionGate();
  const model = wordyModel(steps, isDead);
  return new ReActAgent({
    ...{ name: "a", tools: [look], model, gate, persistence: "step" },
    ...options,
  });
}

/** Runs a call until its process is killed, and goes on with it in another one. */
export async function killRun({ steps, instant, lost }: Kill): Promise<KilledRun> {
  const stateStore = new InMemoryAgentStateStore({ fused: false });
  const seen: AgentEvent[] = [];
  let died = () => {};
  const death = new Promise<void>((resolve) => {
    died = resolve;
  });
  const isDead = () => seen.length > instant;
  const onEvent = (event: AgentEvent) => {
    if (isDead() || event.background) return;
    seen.push(event);
    if (isDead()) died();
  };
  /** A part of the store that the dead process does not reach. */
  const mortal = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => (isDead() ? forever() : value.apply(target, args));
      },
    });
  const { log } = stateStore.companions();
  const parts = { stateStore: mortal(stateStore), log: mortal(log), onEvent };
  const first = nodeOf(parts, steps, isDead);
  await Promise.race([first.call("Look.", ctx), death]);
  const rest: AgentEvent[] = [];
  const agent = nodeOf({ stateStore, onEvent: (event) => rest.push(event) }, steps, () => false);
  await agent.call("Look.", ctx);
  const { records } = await sessionRecords(agent, ctx.userId, ctx.sessionId, { limit: 100 });
  const resumed = rest.filter(({ background }) => background !== true);
  const kept = isDead() ? seen.slice(0, Math.max(1, seen.length - lost)) : seen;
  const gap = kept.at(-1) as AgentEvent;
  const isOver = gap.type === "call_end";
  const { slot, callId, seq } = gap;
  const events: AgentEvent[] = isOver
    ? kept
    : [...kept, { type: "run_lost", slot, callId, seq }, ...resumed];
  const { context = [] } = (await agent.getAgentState(ctx)) ?? {};
  return { events, resumed: isOver ? kept : resumed, context, records };
}
