import type { Slot } from "@holdfast/core";
import { type NewTask, newTask } from "../../src/tasks/task-life.js";
import type { TaskRecord } from "../../src/tasks/task-record.js";

/** Session that gives tasks. */
export const slot: Slot = { agentId: "guide", userId: "alice", sessionId: "s-1" };

/** Time of day, `seconds` after the first task. */
export function at(seconds: number): string {
  return new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
}

/** Record of a task that is about to start. */
export function task(taskId: string, parts: Partial<NewTask> = {}): TaskRecord {
  return newTask({
    taskId,
    agent: "reviewer",
    label: null,
    childSessionId: `child-${taskId}`,
    callId: "c-1",
    toolCallId: "t-1",
    task: "Review it.",
    isBackground: false,
    isRepeatable: false,
    startedAt: at(0),
    ...parts,
  });
}
