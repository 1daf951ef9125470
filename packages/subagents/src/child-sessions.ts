import {
  type PendingCall,
  type PluginHost,
  type RuntimeContext,
  SessionBusyError,
  type SessionGate,
  type Slot,
} from "@holdfast/core";
import { type DerivedAgent, delegatedContext, delegationOf } from "@holdfast/core/plugin-kit";
import { hasTool, type SubagentDefinition } from "./definitions/subagent-definition.js";
import type { LiveCalls } from "./live-calls.js";
import type { TaskRecord } from "./tasks/task-record.js";

/** Tools of plan mode: a subagent plans as the session that it works for does, and nobody would approve a plan of its own. */
const planTools: readonly string[] = ["plan_enter", "plan_write", "plan_exit"];

/** Parts of {@link ChildSessions}. */
export interface ChildSessionsParts {
  readonly host: Pick<PluginHost, "deriveAgent" | "agent">;
  readonly live: LiveCalls;
  readonly gate: SessionGate;
  readonly maxDepth: number;
  /** Names of the tools that delegate. */
  readonly ownTools: ReadonlySet<string>;
}

/** The sessions in which subagents work, and the agents that these belong to. */
export class ChildSessions {
  readonly #parts: ChildSessionsParts;

  constructor(parts: ChildSessionsParts) {
    this.#parts = parts;
  }

  /** Returns the slot of the session in which a task is worked on. */
  slotOf({ userId }: Slot, { agent, childSessionId }: TaskRecord): Slot {
    const { agentId } = this.#parts.host.agent;
    return { agentId: `${agentId}/${agent}`, userId, sessionId: childSessionId };
  }

  /** Returns a subagent without its definition, which is not needed to look at its sessions. */
  agent(name: string): DerivedAgent {
    return this.#parts.host.deriveAgent({ name });
  }

  /** Returns a subagent that can work, in a context of {@link contextOf}. */
  worker(name: string, definition: SubagentDefinition | null, ctx: RuntimeContext): DerivedAgent {
    const { host, maxDepth, ownTools } = this.#parts;
    const { systemPrompt, model, maxIterations, tools } = definition ?? {};
    const isDeepest = (delegationOf(ctx)?.depth ?? 1) >= maxDepth;
    return host.deriveAgent({
      ...{ name, systemPrompt, model, maxIterations },
      hasTool: (tool) => {
        if (tool.execute === undefined || planTools.includes(tool.name)) return false;
        if (ownTools.has(tool.name) && isDeepest) return false;
        return hasTool({ tools }, tool.name);
      },
    });
  }

  /** Returns the context of a subagent's call that works for `slot`. */
  contextOf(
    slot: Slot,
    parent: RuntimeContext,
    fields: { readonly sessionId: string; readonly callId?: string },
  ): RuntimeContext {
    const { live } = this.#parts;
    const above = delegationOf(parent);
    const root = above?.root ?? slot;
    return delegatedContext(
      parent,
      { ...fields, userId: slot.userId, signal: new AbortController().signal },
      { root, depth: (above?.depth ?? 0) + 1, rootCall: () => live.get(root) },
    );
  }

  /** Returns what the subagent of a task asks a person, as its session is saved. */
  async asks(slot: Slot, record: TaskRecord, ctx: RuntimeContext): Promise<readonly PendingCall[]> {
    const { agent, childSessionId: sessionId } = record;
    const waiting = await this.agent(agent).pending(this.contextOf(slot, ctx, { sessionId }));
    return askingCalls(waiting, record);
  }

  /** Tells whether the call that works on a task runs, or waits for its turn, in any process that is not known to be dead. */
  async isAtGate(slot: Slot, record: TaskRecord): Promise<boolean> {
    const calls = await this.#parts.gate.calls(this.slotOf(slot, record));
    return calls.includes(record.callId);
  }

  /**
   * Takes the session of a task away from a process that was taken for dead: should it only have stood still, its call ends there.
   *
   * @returns whether no call works on the task any more
   */
  async fence(slot: Slot, record: TaskRecord): Promise<boolean> {
    const { gate } = this.#parts;
    try {
      const request = { callId: `${record.taskId}:fence`, wait: false };
      const lease = await gate.acquire(this.slotOf(slot, record), request);
      await lease.release();
    } catch (error) {
      // Another call has it, which has taken it over then.
      if (!SessionBusyError.is(error)) throw error;
    }
    return !(await this.isAtGate(slot, record));
  }

  /** Tells whether a shutdown stopped the subagent: then its process had no time left to record it. */
  async isPaused({ userId }: Slot, { agent, childSessionId }: TaskRecord): Promise<boolean> {
    const state = await this.agent(agent).getAgentState({ userId, sessionId: childSessionId });
    return state?.shutdownInterrupted ?? false;
  }

  /** Deletes the session of a task's subagent. */
  async delete({ userId }: Slot, { agent, childSessionId }: TaskRecord): Promise<void> {
    await this.agent(agent).deleteSession({ userId, sessionId: childSessionId });
  }
}

/** Returns the calls among `waiting` that ask, or else those with a question, with the name of the agent that does. */
export function askingCalls(
  waiting: readonly PendingCall[],
  { agent, label }: TaskRecord,
): readonly PendingCall[] {
  const asking = waiting.filter(({ state }) => state === "asking");
  const questions = waiting.filter(({ question }) => question !== undefined);
  return (asking.length > 0 ? asking : questions).map((call) => ({
    agent,
    ...(label !== null && { label }),
    ...call,
  }));
}
