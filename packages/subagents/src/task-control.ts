import { setTimeout as delay } from "node:timers/promises";
import type { PendingCall, RuntimeContext, Slot } from "@holdfast/core";
import type { ChildSessions } from "./child-sessions.js";
import type { Catalogue } from "./definitions/catalogue.js";
import type { TaskChanges } from "./task-changes.js";
import type { RunAnswers, TaskRunner } from "./task-runner.js";
import { hold, isFinished, resume, takeOver } from "./tasks/task-life.js";
import type { TaskRecord } from "./tasks/task-record.js";
import type { TaskStore } from "./tasks/task-store.js";

/** Time in which a task that was just recorded gets as far as the gate, on a busy machine too. */
const STARTING_MS = 30_000;
/** First and longest pause between looks at a task that runs in another process. */
const POLL_MS = { first: 50, most: 1_000 };

/** Parts of {@link TaskControl}. */
export interface TaskControlParts {
  readonly catalogue: Catalogue;
  readonly children: ChildSessions;
  readonly changes: TaskChanges;
  readonly runner: TaskRunner;
  readonly store: TaskStore;
  now(): Date;
}

/**
 * Looks after the tasks of sessions, in whichever process they run: passes answers on, waits for them, cancels them, and settles
 * what a process that has gone left behind.
 *
 * A task runs as long as the call of its record is at the gate of the subagent's session, whose lease a dead process loses.
 * Every change of a record is a compare-and-set, so that of two that disagree about a task one gives in.
 */
export class TaskControl {
  readonly #parts: TaskControlParts;

  constructor(parts: TaskControlParts) {
    this.#parts = parts;
  }

  /** Begins with a task that was just recorded; resolves once it has its session, waits for it, or is over. */
  async start(slot: Slot, record: TaskRecord, ctx: RuntimeContext): Promise<void> {
    await this.#parts.runner.start(slot, record, record.task, ctx);
  }

  /** Tells whether this process works on a task. */
  isRunningHere(slot: Slot, taskId: string): boolean {
    return this.#parts.runner.running(slot, taskId) !== undefined;
  }

  /** Notes that no tool call waits for a task any more. Returns its record. */
  moveToBackground(slot: Slot, taskId: string): Promise<TaskRecord | null> {
    return this.#parts.changes.moveToBackground(slot, taskId);
  }

  /** Passes a person's answers on to the subagent, which goes on; `ctx` is that of the call they came with. */
  async answer(
    slot: Slot,
    record: TaskRecord,
    answers: RunAnswers,
    ctx: RuntimeContext,
  ): Promise<void> {
    // The same for a repeated call, so that the subagent recognises the answers.
    const callId = `${record.taskId}:${ctx.callId}`;
    const { record: changed } = await this.#parts.changes.make(slot, record.taskId, (stored) =>
      resume(stored, callId),
    );
    if (changed?.callId !== callId || changed.status !== "running") return;
    if (!this.isRunningHere(slot, changed.taskId))
      await this.#parts.runner.start(slot, changed, answers, ctx);
  }

  /** Returns the tool calls of a subagent that wait for a person, with the name of the agent that asks. */
  async pending(
    slot: Slot,
    record: TaskRecord,
    ctx: RuntimeContext,
  ): Promise<readonly PendingCall[]> {
    if (record.status !== "waiting") return [];
    // The record says so before the subagent's session is saved with what it asks.
    await this.#parts.runner.running(slot, record.taskId);
    return this.#parts.children.asks(slot, record, ctx);
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
      const isSaving =
        record.status !== "running" && (await this.#parts.children.isAtGate(slot, record));
      const leftMs = isSaving ? POLL_MS.most : end - performance.now();
      if ((record.status !== "running" && !isSaving) || leftMs <= 0) return record;
      const local = this.#parts.runner.running(slot, taskId);
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
    if (await this.#parts.children.isAtGate(slot, record)) return record;
    const age = this.#parts.now().getTime() - Date.parse(record.startedAt);
    if (!record.isStarted && age < STARTING_MS) return record;
    // A subagent that asks has no call at the gate; one whose process died before it was saved does not ask either.
    if ((await this.pending(slot, record, ctx)).length > 0) return record;
    // It may have ended between the two looks.
    const again = await this.#parts.store.get(slot, record.taskId);
    if (again?.status !== record.status || again.callId !== record.callId) return again ?? record;
    if (await this.#isAnsweredInVain(slot, again, ctx)) {
      const { record: asking } = await this.#parts.changes.make(slot, again.taskId, (stored) =>
        hold(stored, "waiting", again),
      );
      return asking ?? again;
    }
    const mayGoOn =
      again.status === "running" &&
      (again.isRepeatable || (await this.#parts.children.isPaused(slot, again)));
    if (mayGoOn) return this.#takeOver(slot, again, ctx);
    return (await this.#parts.children.fence(slot, again)) ? this.#lose(slot, again) : again;
  }

  /** Cancels a task, and with it the tasks that its subagent has given to others. Returns its record as it is then. */
  async cancel(slot: Slot, taskId: string): Promise<TaskRecord | null> {
    const { store, children, changes } = this.#parts;
    let wasRunning = false;
    const end = { status: "cancelled", error: "It was cancelled." } as const;
    const { record, isChanged } = await changes.end(slot, taskId, end, ({ status }) => {
      wasRunning = status === "running";
      return true;
    });
    if (!record || !isChanged) return record;
    const child = children.slotOf(slot, record);
    // By its call: the session may be working on another task. Without one, what it left open is closed.
    const options = wasRunning ? { callId: record.callId } : {};
    await children.agent(record.agent).interrupt(child, undefined, options);
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
    const { store, runner, children } = this.#parts;
    for (const record of (await store.list(slot)).tasks) {
      if (!isFinished(record.status)) await this.cancel(slot, record.taskId);
      await runner.running(slot, record.taskId);
      await children.delete(slot, record);
    }
    await store.deleteAll(slot);
  }

  /** Deletes the sessions that subagents have had for a user. */
  async deleteUser(userId: string): Promise<void> {
    const { catalogue, children } = this.#parts;
    for (const { name } of await catalogue.all()) await children.agent(name).deleteUser(userId);
  }

  /** Tells whether the process that had a person's answers died before the subagent had them: it still asks then. */
  async #isAnsweredInVain(slot: Slot, record: TaskRecord, ctx: RuntimeContext): Promise<boolean> {
    if (record.status !== "running" || record.isStarted || record.callId === record.taskId)
      return false;
    return (await this.#parts.children.asks(slot, record, ctx)).length > 0;
  }

  async #lose(slot: Slot, seen: TaskRecord): Promise<TaskRecord> {
    const error =
      "The process that worked on it has gone. What it had done by then stays done; its outcome is unknown.";
    const { record } = await this.#parts.changes.end(
      slot,
      seen.taskId,
      { status: "lost", error, run: seen },
      ({ status }) => status === seen.status,
    );
    return record ?? seen;
  }

  async #takeOver(slot: Slot, seen: TaskRecord, ctx: RuntimeContext): Promise<TaskRecord> {
    const { changes, runner, store } = this.#parts;
    const startedAt = this.#parts.now().toISOString();
    const { record, isChanged } = await changes.make(slot, seen.taskId, (stored) =>
      takeOver(stored, seen, startedAt),
    );
    if (!record || !isChanged) return record ?? seen;
    await runner.start(slot, record, null, ctx);
    // A process that is shutting down has paused it again.
    return (await store.get(slot, seen.taskId)) ?? record;
  }
}
