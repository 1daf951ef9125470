import { isDeepStrictEqual } from "node:util";
import { cutText } from "@holdfast/core/plugin-kit";
import type { TaskRecord, TaskStatus, TaskUsage } from "./task-record.js";

/** Longest text of a task. */
export const MAX_TASK_CHARS = 20_000;
/** Characters that a record keeps of an error. */
const MAX_ERROR_CHARS = 4_000;
/**
 * Characters that a record keeps of a result at most: a value of a key-value store holds it beside the longest task, even if
 * JSON escapes every one of them and the value is encrypted.
 */
export const MAX_RESULT_CHARS = 100_000;

/** Status of a task that is over. */
export type FinishedStatus = "completed" | "failed" | "cancelled" | "lost";

/** Statuses that may follow each one. A finished task keeps its status, so that a late writer cannot take back what was reported. */
const followers: { readonly [S in TaskStatus]: readonly TaskStatus[] } = {
  running: ["waiting", "paused", "completed", "failed", "cancelled", "lost"],
  waiting: ["running", "cancelled", "lost"],
  paused: ["running", "cancelled", "lost"],
  completed: [],
  failed: [],
  cancelled: [],
  lost: [],
};

/** Tells whether a task with this status is over. */
export function isFinished(status: TaskStatus): status is FinishedStatus {
  return followers[status].length === 0;
}

/** Tells whether a task may change from one status to another. */
export function mayBecome(before: TaskStatus, after: TaskStatus): boolean {
  return followers[before].includes(after);
}

/** Tells whether `after` may be stored in place of `before`. A finished task does not change. */
export function mayReplace(before: TaskRecord, after: TaskRecord): boolean {
  if (after.taskId !== before.taskId) return false;
  if (isFinished(before.status)) return isDeepStrictEqual(after, before);
  if (isFinished(after.status) !== (after.endedAt !== null)) return false;
  return after.status === before.status || mayBecome(before.status, after.status);
}

/** Parts of a new task. */
export type NewTask = Pick<
  TaskRecord,
  | "taskId"
  | "agent"
  | "label"
  | "childSessionId"
  | "callId"
  | "toolCallId"
  | "task"
  | "isBackground"
  | "isRepeatable"
  | "startedAt"
>;

/** Makes the record of a task that is about to start. */
export function newTask(parts: NewTask): TaskRecord {
  return {
    v: 1,
    ...parts,
    status: "running",
    isStarted: false,
    attempt: 1,
    endedAt: null,
    result: null,
    error: null,
    usage: null,
  };
}

/** One run of a task: a call of the subagent, and the number of the attempt. A run that another has replaced changes nothing. */
export type TaskRunId = Pick<TaskRecord, "callId" | "attempt">;

/** Tells whether it is this run that the record speaks of: the fence against one that another has replaced. */
export function isRunOf({ callId, attempt }: TaskRecord, run: TaskRunId): boolean {
  return callId === run.callId && attempt === run.attempt;
}

/** Notes that the subagent's call holds its session; null when the task is not this run's to work on. */
export function start(record: TaskRecord, run: TaskRunId): TaskRecord | null {
  if (record.status !== "running" || !isRunOf(record, run)) return null;
  return { ...record, isStarted: true };
}

/** Stops a task until it is resumed; null when it is not this run that works on it. */
export function hold(
  record: TaskRecord,
  status: "waiting" | "paused",
  run: TaskRunId,
  usage?: TaskUsage | null,
): TaskRecord | null {
  if (record.status !== "running" || !isRunOf(record, run)) return null;
  return { ...record, status, usage: sum(record.usage, usage) };
}

/** Goes on with a task that waits for a person, in another call; null when it does not wait. */
export function resume(record: TaskRecord, callId: string): TaskRecord | null {
  if (record.status !== "waiting") return null;
  return { ...record, status: "running", callId, isStarted: false };
}

/**
 * Gives a task to another process, which goes on with the same call; null when the task has moved on.
 *
 * @param seen - the record as it was when no process was found to work on it
 */
export function takeOver(
  record: TaskRecord,
  seen: TaskRecord,
  startedAt: string,
): TaskRecord | null {
  if (isFinished(record.status) || record.status !== seen.status || !isRunOf(record, seen))
    return null;
  const attempt = record.attempt + 1;
  return { ...record, status: "running", attempt, startedAt, isStarted: false };
}

/** Notes that no tool call waits for the result any more; null when that was so before, or the task is over. */
export function moveToBackground(record: TaskRecord): TaskRecord | null {
  if (record.isBackground || isFinished(record.status)) return null;
  return { ...record, isBackground: true };
}

/** End of a task. */
export interface TaskEnd {
  readonly status: FinishedStatus;
  readonly endedAt: string;
  /** Run that has ended. When another works on the task by now, nothing changes. @default it ends whatever run there is */
  readonly run?: TaskRunId | undefined;
  readonly result?: string | null | undefined;
  readonly error?: string | null | undefined;
  readonly usage?: TaskUsage | null | undefined;
}

/** Ends a task; null when its status does not allow that, or when it was another run that ended. */
export function finish(record: TaskRecord, end: TaskEnd): TaskRecord | null {
  const { status, endedAt, result, error, usage, run = record } = end;
  if (!mayBecome(record.status, status) || !isRunOf(record, run)) return null;
  return {
    ...record,
    status,
    endedAt,
    result: cutOrNull(result, MAX_RESULT_CHARS),
    error: cutOrNull(error, MAX_ERROR_CHARS),
    usage: sum(record.usage, usage),
  };
}

/** Adds what a run has used to what earlier ones have. */
function sum(before: TaskUsage | null, usage: TaskUsage | null | undefined): TaskUsage | null {
  if (!before || !usage) return before ?? usage ?? null;
  return {
    inputTokens: before.inputTokens + usage.inputTokens,
    outputTokens: before.outputTokens + usage.outputTokens,
  };
}

function cutOrNull(text: string | null | undefined, maxChars: number): string | null {
  return text === null || text === undefined ? null : cutText(text, maxChars);
}
