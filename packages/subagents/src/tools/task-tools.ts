import type { Tool } from "@holdfast/core";
import { failedResult, isSuspended, safeTool } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { showTask } from "../task-notices.js";
import { isFinished } from "../tasks/task-life.js";
import type { TaskRecord } from "../tasks/task-record.js";
import {
  resultOf,
  type TaskToolParts,
  taskDelegation,
  waitingToolMs,
  waitSeconds,
} from "./task-tool.js";

/** Tasks that `task_list` shows. */
const MAX_LISTED = 100;

const taskId = s.string().min(1).max(128);

/** Makes `task_output`, `task_cancel` and `task_list`. */
export function taskTools(parts: TaskToolParts): readonly Tool[] {
  const { store, control, notices } = parts;
  const output = safeTool({
    name: "task_output",
    description:
      "Shows how a task of a subagent stands, and its result once it has one. With block: true it waits for the end, and has the user asked when the subagent needs an approval or an answer.",
    input: s.object({
      taskId,
      block: s.boolean().default(false).describe("Wait for the end of the task"),
      timeoutSeconds: waitSeconds(30).describe("Longest wait"),
    }),
    readOnly: true,
    timeoutMs: waitingToolMs,
    delegation: taskDelegation<{ taskId: string; timeoutSeconds: number }>(
      parts,
      (input) => input.taskId,
    ),
    async run(input, ctx, signal) {
      const record = await control.inspect(ctx.slot, input.taskId, ctx);
      if (!record) return unknownTask(input.taskId);
      if (!isFinished(record.status) && input.block) {
        // What it asks would be asked twice, through both calls.
        if (!notices.waitFor(ctx, input.taskId))
          return failedResult(`Another call waits for task ${input.taskId} already.`);
        const result = await resultOf(parts, input.taskId, input.timeoutSeconds, ctx, signal);
        if (!isSuspended(result)) notices.waitedFor(ctx, input.taskId);
        return result;
      }
      notices.showByTool(ctx, record);
      const text = showTask(record, Number.POSITIVE_INFINITY);
      return record.status === "waiting"
        ? `${text} Call task_output with block: true to have the user asked.`
        : text;
    },
  });
  const cancel = safeTool({
    name: "task_cancel",
    description:
      "Stops a task of a subagent, with the tasks that it has given to others. What it has done by then stays done.",
    input: s.object({ taskId }),
    readOnly: true,
    async run(input, ctx) {
      const record = await control.cancel(ctx.slot, input.taskId);
      if (!record) return unknownTask(input.taskId);
      notices.showByTool(ctx, record);
      return showTask(record, Number.POSITIVE_INFINITY);
    },
  });
  const list = safeTool({
    name: "task_list",
    description: "Lists the tasks that you have given to subagents in this session, newest first.",
    input: s.object({
      status: s
        .enum(["open", "finished"])
        .optional()
        .describe("Only those that are not finished, or only those that are"),
    }),
    readOnly: true,
    async run({ status }, ctx) {
      const { tasks, problems } = await store.list(ctx.slot);
      const settled: TaskRecord[] = [];
      for (const task of tasks) settled.push(await control.settle(ctx.slot, task, ctx));
      const shown = settled
        .filter(
          (task) => status === undefined || isFinished(task.status) === (status === "finished"),
        )
        .reverse();
      const lines = shown.slice(0, MAX_LISTED).map(showLine);
      if (shown.length > MAX_LISTED) lines.push(`… and ${shown.length - MAX_LISTED} older ones`);
      lines.push(...problems.map(({ error }) => error.message));
      return lines.length === 0 ? "There are no such tasks in this session." : lines.join("\n");
    },
  });
  return [output, cancel, list];
}

function unknownTask(id: string): ReturnType<typeof failedResult> {
  return failedResult(
    `There is no task ${JSON.stringify(id)} in this session; task_list shows those that there are.`,
  );
}

function showLine({ taskId: id, agent, label, status, task, attempt }: TaskRecord): string {
  const title = label === null ? "" : ` "${label}"`;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const text = task.replaceAll(/\s+/g, " ").slice(0, 100);
  return `- ${id}: ${agent}${title}, ${status}${again}: ${text}`;
}
