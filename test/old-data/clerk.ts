import { compaction } from "@holdfast/compaction";
import {
  type AgentReply,
  type CallContext,
  type CallInput,
  definePlugin,
  listGuard,
  type Message,
  type PendingCall,
  type Slot,
  suspend,
  tool,
  toolResultsOf,
} from "@holdfast/core";
import type { StateWrite } from "@holdfast/core/store-kit";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent, type HarnessAgentOptions } from "@holdfast/harness";
import { type ScriptedModel, type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import type { OpenedStore } from "./restore-stores.js";

const any = z.looseObject({});
const counter = definePlugin({
  name: "counter",
  contract: 1,
  setup(host) {
    const schema = z.object({ count: z.number() });
    const state = host.state({ schema, initial: () => ({ count: 0 }) });
    host.tool(
      tool({
        name: "count",
        description: "Counts.",
        input: any,
        execute: (_, { agentState }) => {
          if (agentState === undefined) throw new Error("no state");
          const count = state.get(agentState).count + 1;
          state.set(agentState, { count });
          return `counted ${count}`;
        },
      }),
    );
  },
});
const guard = definePlugin({
  name: "guard",
  contract: 1,
  setup: (host) => host.provide("toolGuard", listGuard({ deny: ["forbidden"], ask: ["send"] })),
});

/** An agent that takes over from the old one, what its model was asked, and what it saved. */
export interface Successor {
  readonly agent: HarnessAgent;
  readonly model: ScriptedModel;
  readonly writes: readonly StateWrite[];
  /** Names of the tools that ran, with their input. */
  readonly ran: readonly string[];
}

/** The agent that had the old conversations, in the present release. */
export function clerk(
  { store, options }: OpenedStore,
  script: readonly ScriptedReply[],
  more: Partial<HarnessAgentOptions> = {},
): Successor {
  const writes: StateWrite[] = [];
  const { stateStore } = store;
  const save = stateStore.save.bind(stateStore);
  stateStore.save = (slot, write) => {
    writes.push(write);
    return save(slot, write);
  };
  const ran: string[] = [];
  const running = (name: string) =>
    tool({
      name,
      description: `Does ${name}.`,
      input: any,
      execute: (input) => {
        ran.push(`${name} ${JSON.stringify(input)}`);
        return name === "later" ? suspend("printing") : `${name} done`;
      },
    });
  const outside = tool({ name: "outside", description: "Runs outside.", input: any });
  const model = scriptedModel(script, { structuredOutput: true });
  const agent = HarnessAgent.create({
    name: "clerk",
    model,
    tools: [...["look", "send", "later", "hang", "slow"].map(running), outside],
    plugins: [
      guard,
      counter,
      toolResultEviction({ maxResultChars: 4_000, exclude: ["dump"] }),
      compaction({ keepMessages: 2 }),
    ],
    ...options,
    ...more,
  });
  return { agent, model, writes, ran };
}

/** How a call names the session of a slot. */
export function whose({ userId, sessionId }: Omit<Slot, "agentId">): CallContext {
  return { ...(userId !== null && { userId }), sessionId };
}

/** What a reply waits for. */
export function pendingOf(reply: AgentReply): readonly PendingCall[] {
  if (!("pending" in reply)) throw new Error(`waits for nothing, ended with ${reply.reason}`);
  return reply.pending;
}

/** The input that approves or denies all that is asked. */
export function confirmed(pending: readonly PendingCall[], approve: boolean): CallInput {
  const asking = pending.filter(({ state }) => state === "asking");
  return { confirm: asking.map(({ toolCallId }) => ({ toolCallId, approve })) };
}

/** The input that answers all that is suspended. */
export function answered(pending: readonly PendingCall[], output: string): CallInput {
  return { results: pending.map(({ toolCallId }) => ({ toolCallId, output })) };
}

/** Ids of the tool calls that messages have results of. */
export function answeredCalls(messages: readonly Message[]): string[] {
  return messages.flatMap(toolResultsOf).map(({ toolCallId }) => toolCallId);
}
