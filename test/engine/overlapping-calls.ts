import {
  type AgentReply,
  type AgentStateStore,
  InProcessSessionGate,
  type Middleware,
  ReActAgent,
  type ReActAgentOptions,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { type Door, door } from "./door.js";

const ctx = { sessionId: "s" };

/** An agent with a gate of its own: as if the lease had failed to keep the others out. */
export const agentOn = (
  store: AgentStateStore,
  options: Partial<ReActAgentOptions> = {},
): ReActAgent =>
  new ReActAgent({
    name: "a",
    model: scriptedModel(() => "ok"),
    gate: new InProcessSessionGate(),
    stateStore: store,
    ...options,
  });

/** An agent that has loaded the session and waits inside its model until it is told to answer. */
export function slowAgent(
  store: AgentStateStore,
  options: Partial<ReActAgentOptions> = {},
): { agent: ReActAgent; reached: Door<void>; release: Door<void> } {
  const [reached, release] = [door(), door()];
  const model = scriptedModel(async () => {
    reached.open();
    await release.opened;
    return "slow";
  });
  return { agent: agentOn(store, { model, ...options }), reached, release };
}

/** Runs `second` as a whole while `first` has loaded and not yet saved. */
export async function overlap(
  first: { agent: ReActAgent; reached: Door<void>; release: Door<void> },
  second: () => Promise<unknown>,
  callId?: string,
): Promise<AgentReply> {
  const running = first.agent.call("first", { ...ctx, callId });
  await first.reached.opened;
  await second();
  first.release.open();
  return running;
}

/** Changes a section of the head. */
export const edits = (section: "tasks" | "other tasks" | "plan"): Middleware => ({
  name: `edits-${section}`,
  onCall: (step, next) => {
    if (section === "tasks")
      step.state.tasksContext.tasks = [{ content: `by ${step.slot.agentId}`, status: "pending" }];
    if (section === "plan") step.state.planModeContext = { active: true, planFile: null };
    if (section === "other tasks")
      step.state.tasksContext.tasks = [{ content: "something else", status: "completed" }];
    return next();
  },
});
