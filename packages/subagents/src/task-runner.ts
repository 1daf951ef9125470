import { setTimeout as delay } from "node:timers/promises";
import {
  type AgentReply,
  type Confirmation,
  type EventBody,
  InvalidInputError,
  type PendingCall,
  type PluginHost,
  type RuntimeContext,
  type SessionGate,
  ShuttingDownError,
  type Slot,
} from "@holdfast/core";
import {
  cutText,
  type DerivedAgent,
  delegatedContext,
  delegationOf,
  reasonOf,
} from "@holdfast/core/plugin-kit";
import { slotKey } from "@holdfast/core/store-kit";
import type { Catalogue } from "./definitions/catalogue.js";
import { hasTool, type SubagentDefinition } from "./definitions/subagent-definition.js";
import type { LiveCalls } from "./live-calls.js";
import type { TaskEvent } from "./subagents-events.js";
import type { SubagentsSettings } from "./subagents-options.js";
import { TaskGone, TaskRun } from "./task-run.js";
import {
  finish,
  hold,
  isFinished,
  isRunOf,
  moveToBackground,
  resume,
  start,
  type TaskEnd,
  takeOver,
} from "./tasks/task-life.js";
import type { TaskRecord } from "./tasks/task-record.js";
import type { TaskStore } from "./tasks/task-store.js";

/** Time in which a task that was just recorded gets as far as the gate, on a busy machine too. */
const STARTING_MS = 30_000;
/** First and longest pause between looks at a task that runs in another process. */
const POLL_MS = { first: 50, most: 1_000 };
/** Tools of plan mode: a subagent plans as the session that it works for does, and nobody would approve a plan of its own. */
const planTools: readonly string[] = ["plan_enter", "plan_write", "plan_exit"];

/** Parts of a {@link TaskRunner}. */
export interface TaskRunnerParts {
  readonly host: Pick<PluginHost, "deriveAgent" | "emit" | "now" | "agent">;
  readonly settings: SubagentsSettings;
  readonly catalogue: Catalogue;
  readonly store: TaskStore;
  readonly live: LiveCalls;
  readonly gate: SessionGate;
  /** Names of the tools that delegate. */
  readonly ownTools: ReadonlySet<string>;
}

/** Input of a subagent's call: the task, a person's answers, or nothing when it goes on with a run that was cut short. */
type RunInput = string | { readonly confirm: readonly Confirmation[] } | null;

/**
 * Runs the tasks of sessions in this process, finds out about those of other processes, and takes over what they left.
 *
 * A task runs as long as the call of its record is at the gate of the subagent's session, whose lease a dead process loses.
 * Every change of a record is a compare-and-set, so that of two that disagree about a task one gives in.
 */
export class TaskRunner {
  readonly #parts: TaskRunnerParts;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
  }

  /** Returns the slot of the session in which a task is worked on. */
  childSlot({ userId }: Slot, { agent, childSessionId }: TaskRecord): Slot {
    const { agentId } = this.#parts.host.agent;
    return { agentId: `${agentId}/${agent}`, userId, sessionId: childSessionId };
  }

  /** Begins with a task that was just recorded; resolves once it is at the gate, or over. */
  async start(slot: Slot, record: TaskRecord, ctx: RuntimeContext): Promise<void> {
    await this.#launch(slot, record, record.task, ctx);
  }

  /** Notes that no tool call waits for a task any more. Returns its record. */
  async moveToBackground(slot: Slot, taskId: string): Promise<TaskRecord | null> {
    const { record, isChanged } = await this.#change(slot, taskId, moveToBackground);
    if (record && isChanged)
      this.#report(slot, record, { type: "task_background", ...about(record) });
    return record;
  }

  /** Passes a person's answers on to the subagent, which goes on; `ctx` is that of the call they came with. */
  async answer(
    slot: Slot,
    record: TaskRecord,
    answers: readonly Confirmation[],
    ctx: RuntimeContext,
  ): Promise<void> {
    // The same for a repeated call, so that the subagent recognises the answers.
    const callId = `${record.taskId}:${ctx.callId}`;
    const changed = await this.#parts.store.change(slot, record.taskId, (stored) =>
      resume(stored, callId),
    );
    if (changed?.callId !== callId || changed.status !== "running") return;
    if (!this.isRunningHere(slot, changed.taskId))
      await this.#launch(slot, changed, { confirm: answers }, ctx);
  }

  /** Returns the tool calls of a subagent that wait for a person, with the name of the agent that asks. */
  async pending(
    slot: Slot,
    record: TaskRecord,
    ctx: RuntimeContext,
  ): Promise<readonly PendingCall[]> {
    if (record.status !== "waiting") return [];
    // The record says so before the subagent's session is saved with what it asks.
    await this.#running.get(keyOf(slot, record.taskId));
    return this.#asks(slot, record, ctx);
  }

  async #asks(
    slot: Slot,
    record: TaskRecord,
    ctx: RuntimeContext,
  ): Promise<readonly PendingCall[]> {
    const { agent, childSessionId: sessionId } = record;
    const waiting = await this.#agent(agent).pending(this.#context(slot, ctx, { sessionId }));
    return named(waiting, record);
  }

  /** Waits until a task needs no more waiting, for `timeoutMs` at most; returns its record as it is then. */
  async wait(
    slot: Slot,
    taskId: string,
    timeoutMs: number,
    ctx: RuntimeContext,
    signal: AbortSignal,
  ): Promise<TaskRecord | null> {
    const end = performance.now() + timeoutMs;
    for (let pauseMs = POLL_MS.first; ; pauseMs = Math.min(pauseMs * 2, POLL_MS.most)) {
      signal.throwIfAborted();
      let record = await this.#parts.store.get(slot, taskId);
      // One that a shutdown of this process has paused is not begun again here.
      if (record && record.status !== "paused") record = await this.settle(slot, record, ctx);
      if (!record || isFinished(record.status)) return record;
      // Until the subagent's session is saved, nobody sees what it asks.
      const isSaving = record.status !== "running" && (await this.#isAtGate(slot, record));
      const leftMs = isSaving ? POLL_MS.most : end - performance.now();
      if ((record.status !== "running" && !isSaving) || leftMs <= 0) return record;
      const local = this.#running.get(keyOf(slot, taskId));
      const rest = new AbortController();
      const abort = () => rest.abort();
      signal.addEventListener("abort", abort, { once: true });
      local?.finally(abort);
      await delay(local ? leftMs : Math.min(leftMs, pauseMs), undefined, {
        signal: rest.signal,
      }).catch(() => undefined);
      signal.removeEventListener("abort", abort);
    }
  }

  /**
   * Returns the record of a task as things are: one that no process works on any more is taken over if that is allowed, and
   * lost otherwise.
   */
  async inspect(slot: Slot, taskId: string, ctx: RuntimeContext): Promise<TaskRecord | null> {
    const record = await this.#parts.store.get(slot, taskId);
    return record && this.settle(slot, record, ctx);
  }

  /** As {@link inspect}, of a record that was just read. */
  async settle(slot: Slot, record: TaskRecord, ctx: RuntimeContext): Promise<TaskRecord> {
    if (isFinished(record.status) || this.isRunningHere(slot, record.taskId)) return record;
    if (record.status === "paused") return this.#takeOver(slot, record, ctx);
    if (await this.#isAtGate(slot, record)) return record;
    const age = this.#parts.host.now().getTime() - Date.parse(record.startedAt);
    if (!record.isStarted && age < STARTING_MS) return record;
    // A subagent that asks has no call at the gate; one whose process died before it was saved does not ask either.
    if ((await this.pending(slot, record, ctx)).length > 0) return record;
    // It may have ended between the two looks.
    const again = await this.#parts.store.get(slot, record.taskId);
    if (again?.status !== record.status || again.callId !== record.callId) return again ?? record;
    if (await this.#isAnsweredInVain(slot, again, ctx)) {
      const { record: asking } = await this.#change(slot, again.taskId, (stored) =>
        hold(stored, "waiting", again),
      );
      return asking ?? again;
    }
    const mayGoOn =
      again.status === "running" && (again.isRepeatable || (await this.#isPaused(slot, again)));
    return mayGoOn ? this.#takeOver(slot, again, ctx) : this.#lose(slot, again);
  }

  /** Cancels a task, and with it the tasks that its subagent has given to others. Returns its record as it is then. */
  async cancel(slot: Slot, taskId: string): Promise<TaskRecord | null> {
    const { store } = this.#parts;
    let wasRunning = false;
    const { record, isChanged } = await this.#change(slot, taskId, (stored) => {
      wasRunning = stored.status === "running";
      return finish(stored, { ...this.#endNow("cancelled"), error: "It was cancelled." });
    });
    if (!record || !isChanged) return record;
    this.#reportEnd(slot, record);
    const child = this.childSlot(slot, record);
    // By its call: the session may be working on another task. Without one, what it left open is closed.
    const options = wasRunning ? { callId: record.callId } : {};
    await this.#agent(record.agent).interrupt(child, undefined, options);
    if (await this.#hasTurn(slot, record))
      for (const { taskId: other } of (await store.listOpen(child)).tasks)
        await this.cancel(child, other);
    return record;
  }

  /** Tells whether the subagents of a task's session work for it, and not for a task that it waits behind. */
  async #hasTurn(slot: Slot, record: TaskRecord): Promise<boolean> {
    if (record.isStarted) return true;
    const { tasks } = await this.#parts.store.listOpen(slot);
    return !tasks.some(
      ({ taskId, childSessionId, status }) =>
        taskId !== record.taskId && childSessionId === record.childSessionId && !isFinished(status),
    );
  }

  /** Deletes the tasks of a session with the sessions of their subagents. */
  async delete(slot: Slot): Promise<void> {
    const { store } = this.#parts;
    for (const record of (await store.list(slot)).tasks) {
      if (!isFinished(record.status)) await this.cancel(slot, record.taskId);
      await this.#running.get(keyOf(slot, record.taskId));
      const { userId, sessionId } = this.childSlot(slot, record);
      await this.#agent(record.agent).deleteSession({ userId, sessionId });
    }
    await store.deleteAll(slot);
  }

  /** Deletes the sessions that subagents have had for a user. */
  async deleteUser(userId: string): Promise<void> {
    for (const { name } of await this.#parts.catalogue.all())
      await this.#agent(name).deleteUser(userId);
  }

  /** Tells whether this process works on a task. */
  isRunningHere(slot: Slot, taskId: string): boolean {
    return this.#running.has(keyOf(slot, taskId));
  }

  /** Tells whether the call that works on a task runs, or waits for its turn, in any process. */
  async #isAtGate(slot: Slot, record: TaskRecord): Promise<boolean> {
    const calls = await this.#parts.gate.calls(this.childSlot(slot, record));
    return calls.includes(record.callId);
  }

  /** Tells whether the process that had a person's answers died before the subagent had them: it still asks then. */
  async #isAnsweredInVain(slot: Slot, record: TaskRecord, ctx: RuntimeContext): Promise<boolean> {
    if (record.status !== "running" || record.isStarted || record.callId === record.taskId)
      return false;
    return (await this.#asks(slot, record, ctx)).length > 0;
  }

  /** Resolves once the ends of all runs that are over are recorded: that of a failed one follows its call. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Tells whether a shutdown stopped the subagent: then its process had no time left to record it. */
  async #isPaused({ userId }: Slot, { agent, childSessionId }: TaskRecord): Promise<boolean> {
    const state = await this.#agent(agent).getAgentState({ userId, sessionId: childSessionId });
    return state?.shutdownInterrupted ?? false;
  }

  async #lose(slot: Slot, seen: TaskRecord): Promise<TaskRecord> {
    const error =
      "The process that worked on it has gone. What it had done by then stays done; its outcome is unknown.";
    const { record, isChanged } = await this.#change(slot, seen.taskId, (stored) =>
      stored.status === seen.status
        ? finish(stored, { ...this.#endNow("lost"), error, run: seen })
        : null,
    );
    if (record && isChanged) this.#reportEnd(slot, record);
    return record ?? seen;
  }

  async #takeOver(slot: Slot, seen: TaskRecord, ctx: RuntimeContext): Promise<TaskRecord> {
    const startedAt = this.#parts.host.now().toISOString();
    const { record, isChanged } = await this.#change(slot, seen.taskId, (stored) =>
      takeOver(stored, seen, startedAt),
    );
    if (!record || !isChanged) return record ?? seen;
    await this.#launch(slot, record, null, ctx);
    // A process that is shutting down has paused it again.
    return (await this.#parts.store.get(slot, seen.taskId)) ?? record;
  }

  /** As `change` of the store, and tells whether it was this change that was made. */
  async #change(
    slot: Slot,
    taskId: string,
    edit: (record: TaskRecord) => TaskRecord | null,
  ): Promise<{ readonly record: TaskRecord | null; readonly isChanged: boolean }> {
    let isChanged = false;
    const record = await this.#parts.store.change(slot, taskId, (stored) => {
      const edited = edit(stored);
      isChanged = edited !== null;
      return edited;
    });
    return { record, isChanged };
  }

  #endNow<S extends TaskEnd["status"]>(
    status: S,
  ): { readonly status: S; readonly endedAt: string } {
    return { status, endedAt: this.#parts.host.now().toISOString() };
  }

  /** Runs a task in this process; resolves once its call is at the gate, or over. */
  async #launch(
    slot: Slot,
    record: TaskRecord,
    input: RunInput,
    ctx: RuntimeContext,
  ): Promise<void> {
    const key = keyOf(slot, record.taskId);
    await new Promise<void>((arrived) => {
      const running = this.#run(slot, record, input, ctx, arrived).finally(() => {
        this.#running.delete(key);
        arrived();
      });
      this.#running.set(key, running);
    });
  }

  /** Never rejects: whatever happens ends in the record, or leaves it to be found. */
  async #run(
    slot: Slot,
    record: TaskRecord,
    input: RunInput,
    parent: RuntimeContext,
    arrived: () => void,
  ): Promise<void> {
    const { childSessionId: sessionId, callId, attempt, isBackground } = record;
    const report = (event: EventBody) => this.#report(slot, record, event);
    const ctx = this.#context(slot, parent, { sessionId, callId });
    const run = new TaskRun({
      agent: record.agent,
      begin: () => this.#begin(slot, record),
      end: (reply) => this.#finish(slot, record, this.#outcomeOf(reply, record)),
      forward: (event) => {
        if (event.type === "queue_wait" || event.type === "state_loaded") arrived();
        this.#parts.live.get(slot)?.emit({ type: "subagent_event", ...about(record), event });
      },
    });
    ctx.put(TaskRun, run);
    try {
      report({ type: "task_start", ...about(record), sessionId, attempt, isBackground });
      const definition = await this.#parts.catalogue.find(record.agent);
      const depth = delegationOf(ctx)?.depth ?? 1;
      const agent = this.#agent(record.agent, definition, depth);
      const reply = await callAgent(agent, record, input, ctx);
      await this.#finish(slot, record, this.#outcomeOf(reply, record));
      // Nobody could give the result that it waits for.
      if (reply.reason === "tool_suspended") await agent.interrupt(this.childSlot(slot, record));
    } catch (error) {
      if (error instanceof TaskGone) return;
      const paused = ShuttingDownError.is(error);
      await this.#finish(
        slot,
        record,
        paused ? { status: "paused" } : { status: "failed", error: reasonOf(error) },
      ).catch(() => undefined);
    }
  }

  async #begin(slot: Slot, run: TaskRecord): Promise<void> {
    const stored = await this.#parts.store.change(slot, run.taskId, (one) => start(one, run));
    if (stored?.status !== "running" || !isRunOf(stored, run))
      throw new TaskGone("the task was cancelled or given to another process");
  }

  /** Records how a run ended, once; a record that others have ended stays as it is. */
  async #finish(slot: Slot, run: TaskRecord, outcome: TaskOutcome): Promise<void> {
    const { status, pending = [], ...rest } = outcome;
    const { record, isChanged } = await this.#change(slot, run.taskId, (stored) =>
      status === "waiting" || status === "paused"
        ? hold(stored, status, run, rest.usage)
        : finish(stored, { ...this.#endNow(status), ...rest, run }),
    );
    if (!record || !isChanged) return;
    if (status === "waiting")
      this.#report(slot, record, {
        ...{ type: "task_waiting", ...about(record), pending },
        isBackground: record.isBackground,
      });
    else this.#reportEnd(slot, record);
  }

  #outcomeOf(reply: AgentReply, record: TaskRecord): TaskOutcome {
    const { inputTokens, outputTokens } = reply.usage;
    const usage = { inputTokens, outputTokens };
    switch (reply.reason) {
      case "permission_asking":
        return { status: "waiting", usage, pending: named(reply.pending, record) };
      case "tool_suspended":
        return {
          ...{ status: "failed", usage },
          error: "It called a tool whose result comes from outside, and it cannot wait for that.",
        };
      case "interrupted":
        return { status: "cancelled", usage, error: "It was interrupted." };
      case "shutdown":
        return { status: "paused", usage };
      default: {
        const result = cutText(reply.text, this.#parts.settings.maxResultChars);
        return { status: "completed", usage, result };
      }
    }
  }

  #reportEnd(slot: Slot, record: TaskRecord): void {
    const { status, error, isBackground } = record;
    if (status === "running" || status === "waiting") return;
    this.#report(slot, record, {
      ...{ type: "task_end", ...about(record), status, isBackground },
      ...(error !== null && { error }),
    });
  }

  /** Emits an event of the session that gave the task: in its running call, otherwise as one of background work. */
  #report(slot: Slot, { callId }: TaskRecord, event: EventBody): void {
    const call = this.#parts.live.get(slot);
    if (call) call.emit(event);
    else this.#parts.host.emit(slot, callId, event);
  }

  /** Returns the context of a subagent's call that works for `slot`. */
  #context(
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

  /** @param definition - what it is made of; not needed to look at its sessions */
  #agent(name: string, definition?: SubagentDefinition | null, depth = 1): DerivedAgent {
    const { host, settings, ownTools } = this.#parts;
    const { systemPrompt, model, maxIterations, tools } = definition ?? {};
    return host.deriveAgent({
      name,
      systemPrompt,
      model,
      maxIterations,
      hasTool: (tool) => {
        if (tool.execute === undefined || planTools.includes(tool.name)) return false;
        if (ownTools.has(tool.name) && depth >= settings.maxDepth) return false;
        return hasTool({ tools }, tool.name);
      },
    });
  }
}

/** How a run ended, for its record. */
interface TaskOutcome extends Pick<TaskEnd, "result" | "error" | "usage"> {
  readonly status: TaskEnd["status"] | "waiting" | "paused";
  readonly pending?: readonly PendingCall[];
}

function keyOf(slot: Slot, taskId: string): string {
  return `${slotKey(slot)} ${taskId}`;
}

function about({ taskId, agent, label }: TaskRecord): TaskEvent {
  return { taskId, agent, label };
}

/** Returns the calls among `waiting` that ask, with the name of the agent that does. */
function named(
  waiting: readonly PendingCall[],
  { agent, label }: TaskRecord,
): readonly PendingCall[] {
  return waiting
    .filter(({ state }) => state === "asking")
    .map((call) => ({ agent, ...(label !== null && { label }), ...call }));
}

/** Calls a subagent; without an input it goes on with the run of the record, which may not have begun. */
async function callAgent(
  agent: DerivedAgent,
  { task, callId, taskId }: TaskRecord,
  input: RunInput,
  ctx: RuntimeContext,
): Promise<AgentReply> {
  if (input !== null) return agent.call(input, ctx);
  const resumed = await agent.resume(ctx, { callId });
  if (resumed) return resumed;
  if (callId === taskId) return agent.call(task, ctx);
  throw new InvalidInputError("the answers that it was to go on with were lost with its process");
}
