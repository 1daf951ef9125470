import type { EventBody, PendingCall, PluginHost, Slot } from "@holdfast/core";
import type { LiveCalls } from "./live-calls.js";
import type { TaskEvent } from "./subagents-events.js";
import { finish, moveToBackground, type TaskEnd } from "./tasks/task-life.js";
import type { TaskRecord } from "./tasks/task-record.js";
import type { TaskStore } from "./tasks/task-store.js";

/** Parts of {@link TaskChanges}. */
export interface TaskChangesParts {
  readonly host: Pick<PluginHost, "emit" | "now">;
  readonly store: TaskStore;
  readonly live: LiveCalls;
}

/** A record after an attempt to change it, and whether it was this attempt that did. */
export interface ChangedTask {
  readonly record: TaskRecord | null;
  readonly isChanged: boolean;
}

/** Changes the records of tasks, and tells the sessions that gave them. */
export class TaskChanges {
  readonly #parts: TaskChangesParts;

  constructor(parts: TaskChangesParts) {
    this.#parts = parts;
  }

  /** As `change` of the store, and tells whether it was this change that was made. */
  async make(
    slot: Slot,
    taskId: string,
    edit: (record: TaskRecord) => TaskRecord | null,
  ): Promise<ChangedTask> {
    let isChanged = false;
    const record = await this.#parts.store.change(slot, taskId, (stored) => {
      const edited = edit(stored);
      isChanged = edited !== null;
      return edited;
    });
    return { record, isChanged };
  }

  /**
   * Ends a task now, if that is allowed, and reports it.
   *
   * @param mayEnd - looks at the record before it ends. @default it may
   */
  async end(
    slot: Slot,
    taskId: string,
    end: Omit<TaskEnd, "endedAt">,
    mayEnd: (record: TaskRecord) => boolean = () => true,
  ): Promise<ChangedTask> {
    const endedAt = this.#parts.host.now().toISOString();
    const changed = await this.make(slot, taskId, (stored) =>
      mayEnd(stored) ? finish(stored, { ...end, endedAt }) : null,
    );
    if (changed.record && changed.isChanged) this.reportEnd(slot, changed.record);
    return changed;
  }

  /** Notes that no tool call waits for a task any more. Returns its record. */
  async moveToBackground(slot: Slot, taskId: string): Promise<TaskRecord | null> {
    const { record, isChanged } = await this.make(slot, taskId, moveToBackground);
    if (record && isChanged)
      this.report(slot, record, { type: "task_background", ...about(record) });
    return record;
  }

  reportWaiting(slot: Slot, record: TaskRecord, pending: readonly PendingCall[]): void {
    const { isBackground } = record;
    this.report(slot, record, { type: "task_waiting", ...about(record), pending, isBackground });
  }

  reportEnd(slot: Slot, record: TaskRecord): void {
    const { status, error, isBackground } = record;
    if (status === "running" || status === "waiting") return;
    this.report(slot, record, {
      ...{ type: "task_end", ...about(record), status, isBackground },
      ...(error !== null && { error }),
    });
  }

  /** Emits an event of the session that gave the task: in its running call, otherwise as one of background work. */
  report(slot: Slot, { callId }: TaskRecord, event: EventBody): void {
    const call = this.#parts.live.get(slot);
    if (call) call.emit(event);
    else this.#parts.host.emit(slot, callId, event);
  }
}

/** Returns the fields that every event about a task has. */
export function about({ taskId, agent, label }: TaskRecord): TaskEvent {
  return { taskId, agent, label };
}
