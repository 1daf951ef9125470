import { suspend, type ToolCallContext } from "@holdfast/core";
import { type KeyedQueue, stopKindOf, type ToolDelegation } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { Catalogue } from "../definitions/catalogue.js";
import type { SubagentsSettings } from "../subagents-options.js";
import type { TaskControl } from "../task-control.js";
import { showTask, type TaskNotices } from "../task-notices.js";
import type { RunAnswers } from "../task-runner.js";
import { isFinished } from "../tasks/task-life.js";
import type { TaskRecord } from "../tasks/task-record.js";
import type { TaskStore } from "../tasks/task-store.js";

/** Longest time that a tool of this package waits for a task. */
const MAX_WAIT_SECONDS = 600;
/** Time that a tool has beyond its wait, to look at the task and to write down what came next. */
const GRACE_MS = 60_000;

/** Longest run of a tool that waits for tasks; the wait it was asked for ends before. */
export const waitingToolMs: number = MAX_WAIT_SECONDS * 1_000 + GRACE_MS;

/** Parts that the tools share. */
export interface TaskToolParts {
  readonly settings: SubagentsSettings;
  readonly catalogue: Catalogue;
  readonly store: TaskStore;
  readonly control: TaskControl;
  readonly notices: TaskNotices;
  /** Orders what counts the tasks of a session and what adds to them. */
  readonly queue: KeyedQueue;
  now(): Date;
}

/** Schema of the time that a tool waits. */
export function waitSeconds(defaultSeconds: number): s.Schema<number> {
  return s.number().min(0).max(MAX_WAIT_SECONDS).default(defaultSeconds);
}

/**
 * Waits for a task and returns what the model is told about it. A subagent that asks leaves the tool call open for a person's
 * answer; one that takes longer goes on in the background.
 */
export async function resultOf(
  { control, notices }: TaskToolParts,
  taskId: string,
  seconds: number,
  ctx: ToolCallContext,
  signal: AbortSignal,
): Promise<unknown> {
  const record = await control.wait(ctx.slot, taskId, seconds * 1_000, ctx, signal);
  if (!record) return `There is no task ${taskId}.`;
  if (record.status === "waiting") return suspend(`task ${taskId} asks the user something`);
  // Run again by the session's next call, with the same tool call, it goes on from there.
  if (record.status === "paused") return suspend(`task ${taskId} was paused by a shutdown`);
  if (isFinished(record.status)) {
    notices.showByTool(ctx, record);
    return showTask(record, Number.POSITIVE_INFINITY);
  }
  await control.moveToBackground(ctx.slot, taskId);
  notices.watch(ctx, taskId);
  return `Task ${taskId} is still running, in the background now. You will be told when it ends; go on with other work, or wait for it with task_output.`;
}

/** Makes the delegation of a tool whose calls stand for a task: what its subagent asks is asked through them. */
export function taskDelegation<Input extends { readonly timeoutSeconds: number }>(
  parts: TaskToolParts,
  taskIdOf: (input: Input, toolCallId: string) => string,
): ToolDelegation<Input> {
  const find = (input: Input, { slot, toolCallId }: Pick<ToolCallContext, "slot" | "toolCallId">) =>
    parts.store.get(slot, taskIdOf(input, toolCallId));
  const goOn = async (answers: RunAnswers, input: Input, ctx: ToolCallContext) => {
    const record = await find(input, ctx);
    if (record) await parts.control.answer(ctx.slot, record, answers, ctx);
    const { signal = new AbortController().signal } = ctx;
    return cancelledWith(parts, record, ctx, signal, () =>
      resultOf(parts, taskIdOf(input, ctx.toolCallId), input.timeoutSeconds, ctx, signal),
    );
  };
  return {
    async pending(input, call) {
      const record = await find(input, call);
      return record ? parts.control.pending(call.slot, record, call.ctx) : [];
    },
    answer: (confirm, input, ctx) => goOn({ confirm }, input, ctx),
    answerQuestions: (answers, input, ctx) => goOn({ answers }, input, ctx),
  };
}

/**
 * Runs `wait`, and cancels the task when the call that waits for it is stopped meanwhile. A shutdown only pauses both: the tool
 * call stays open, and when it runs again in another process it goes on with the task.
 */
export async function cancelledWith(
  { control }: Pick<TaskToolParts, "control">,
  record: Pick<TaskRecord, "taskId" | "isBackground"> | null,
  { slot }: Pick<ToolCallContext, "slot">,
  signal: AbortSignal,
  wait: () => Promise<unknown>,
): Promise<unknown> {
  try {
    return await wait();
  } catch (error) {
    const kind = stopKindOf(signal);
    if (kind === "shutdown" && record) return suspend(`task ${record.taskId} goes on elsewhere`);
    // A task in the background belongs to no call, and one of a lost session to the process that has it now.
    if (signal.aborted && kind !== "lease_lost" && record && !record.isBackground)
      await control.cancel(slot, record.taskId).catch(() => undefined);
    throw error;
  }
}
