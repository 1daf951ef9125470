import { createHash } from "node:crypto";
import type { Tool, ToolCallContext } from "@holdfast/core";
import { delegationOf, failedResult, safeTool } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { slotKey } from "@holdfast/core/store-kit";
import { isFinished, MAX_TASK_CHARS, newTask } from "../tasks/task-life.js";
import type { TaskRecord } from "../tasks/task-record.js";
import {
  cancelledWith,
  resultOf,
  type TaskToolParts,
  taskDelegation,
  waitingToolMs,
  waitSeconds,
} from "./task-tool.js";

const DEFAULT_SECONDS = 30;
/** Children that `agent_list` shows. */
const MAX_LISTED = 50;

const label = s
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(/^[^\r\n]*$/, "must be one line");
const words = s.string().trim().min(1).max(MAX_TASK_CHARS);

/** Returns the id of the task that a tool call begins: the same whenever and wherever the call runs again. */
function taskIdOf(toolCallId: string): string {
  return `task_${createHash("sha256").update(toolCallId).digest("hex").slice(0, 12)}`;
}

/**
 * Makes `agent_spawn`, `agent_send` and `agent_list`.
 *
 * They count as reading: whatever a subagent does is judged by itself, under the rules of the session that it works for.
 */
export function agentTools(parts: TaskToolParts): readonly Tool[] {
  const { catalogue, store } = parts;
  const spawn = safeTool({
    name: "agent_spawn",
    description:
      "Gives a task to a subagent, which works on it with a context of its own and reports back. Say all that it needs to know: it sees nothing of this conversation. Spawn several in one step to have them work at the same time. With timeoutSeconds: 0 it works in the background, and so it does when it takes longer than that; you are told when it is done.",
    input: s.object({
      agent: s.string().min(1).max(64).describe("Name of the subagent"),
      task: words.describe("The task, complete in itself"),
      label: label.optional().describe("Short name for its session, to send it more later"),
      timeoutSeconds: waitSeconds(DEFAULT_SECONDS).describe("Longest wait; 0: do not wait"),
    }),
    readOnly: true,
    timeoutMs: waitingToolMs,
    permission: { subject: ({ agent }) => ({ kind: "text", value: agent }) },
    delegation: taskDelegation(parts, (_, toolCallId) => taskIdOf(toolCallId)),
    async run({ agent, task, label: name, timeoutSeconds }, ctx, signal) {
      const definition = await catalogue.find(agent);
      if (!definition) return failedResult(await unknownAgent(parts, agent));
      const digest = createHash("sha256").update(ctx.toolCallId).digest("hex");
      const childSessionId = `task-${digest.slice(0, 40)}`;
      const wanted = { agent, task, label: name ?? null, childSessionId };
      const isRepeatable = definition.repeatable ?? false;
      return begin(parts, { ...wanted, isRepeatable, timeoutSeconds }, ctx, signal);
    },
  });
  const send = safeTool({
    name: "agent_send",
    description:
      "Sends a message to a subagent that you have spawned before; it goes on with all it knows from then. Works like agent_spawn otherwise.",
    input: s.object({
      to: s
        .string()
        .min(1)
        .max(128)
        .describe("Label of the subagent, or the id of one of its tasks"),
      message: words,
      timeoutSeconds: waitSeconds(DEFAULT_SECONDS).describe("Longest wait; 0: do not wait"),
    }),
    readOnly: true,
    timeoutMs: waitingToolMs,
    delegation: taskDelegation(parts, (_, toolCallId) => taskIdOf(toolCallId)),
    async run({ to, message, timeoutSeconds }, ctx, signal) {
      const { tasks } = await store.list(ctx.slot);
      const own = tasks.find(({ toolCallId }) => toolCallId === ctx.toolCallId);
      const child =
        own ?? tasks.findLast(({ label: name, taskId }) => name === to || taskId === to);
      if (!child)
        return failedResult(
          `There is no subagent ${JSON.stringify(to)} in this session; agent_list shows those that there are.`,
        );
      if (!own && child.status === "waiting")
        return failedResult(
          `${JSON.stringify(to)} waits for the user to answer what it asks. Call task_output with taskId ${child.taskId} and block: true first.`,
        );
      const { agent, label: name, childSessionId, isRepeatable } = child;
      const wanted = { agent, label: name, childSessionId, isRepeatable, task: message };
      return begin(parts, { ...wanted, timeoutSeconds }, ctx, signal);
    },
  });
  const list = safeTool({
    name: "agent_list",
    description: "Lists the subagents that you can spawn, and those of this session.",
    input: s.object({}),
    readOnly: true,
    async run(_, ctx) {
      const agents = await catalogue.listed();
      const { tasks } = await store.list(ctx.slot);
      const children = new Map(tasks.map((task) => [task.childSessionId, task]));
      const shown = [...children.values()].slice(-MAX_LISTED);
      return [
        "You can spawn:",
        ...agents.map(({ name, description }) => `- ${name}: ${oneLine(description)}`),
        ...(shown.length === 0
          ? ["There are no subagents in this session yet."]
          : ["In this session:", ...shown.map(showChild)]),
        ...catalogue.problems.map(({ file, problem }) => `Not usable: ${file}: ${problem}`),
      ].join("\n");
    },
  });
  return [spawn, send, list];
}

/** A task that a tool call gives to a subagent. */
interface WantedTask
  extends Pick<TaskRecord, "agent" | "label" | "task" | "childSessionId" | "isRepeatable"> {
  readonly timeoutSeconds: number;
}

/** Begins a task and waits for it; when the tool call runs again, it goes on with the task that it has begun. */
async function begin(
  parts: TaskToolParts,
  { timeoutSeconds, ...wanted }: WantedTask,
  ctx: ToolCallContext,
  signal: AbortSignal,
): Promise<unknown> {
  const { store, control, settings, notices } = parts;
  const { slot, toolCallId } = ctx;
  const depth = delegationOf(ctx)?.depth ?? 0;
  if (depth >= settings.maxDepth)
    return failedResult(
      `Subagents may be ${settings.maxDepth} deep, and you are at that depth. Do the work yourself.`,
    );
  const taskId = taskIdOf(toolCallId);
  const isBackground = timeoutSeconds === 0;
  const created = await parts.queue.run(slotKey(slot), async () => {
    const { tasks: open } = await store.listOpen(slot);
    const others = open.filter((task) => !isFinished(task.status) && task.taskId !== taskId);
    if (others.length >= settings.maxRunning) return null;
    const ids = { taskId, callId: taskId, toolCallId };
    const startedAt = parts.now().toISOString();
    return store.create(slot, newTask({ ...wanted, ...ids, isBackground, startedAt }));
  });
  if (!created)
    return failedResult(
      `Too many tasks: at most ${settings.maxRunning} of a session may be unfinished at a time. Wait for one with task_output, or cancel one with task_cancel.`,
    );
  const { record, isNew } = created;
  notices.watch(ctx, taskId);
  return cancelledWith(parts, record, ctx, signal, async () => {
    if (isNew) await control.start(slot, record, ctx);
    else await control.settle(slot, record, ctx);
    if (!isBackground) return resultOf(parts, taskId, timeoutSeconds, ctx, signal);
    return `Task ${taskId} has begun in the background. You will be told when it ends; go on with other work, or wait for it with task_output.`;
  });
}

async function unknownAgent({ catalogue }: TaskToolParts, name: string): Promise<string> {
  const names = (await catalogue.listed()).map((one) => one.name);
  const broken = catalogue.problems.find(({ file }) => file.endsWith(`/${name}.md`));
  return [
    `There is no subagent ${JSON.stringify(name)}. There are: ${names.join(", ") || "none"}.`,
    ...(broken ? [`${broken.file} cannot be used: ${broken.problem}`] : []),
  ].join(" ");
}

function showChild({ agent, label: name, taskId, status, task }: TaskRecord): string {
  const title = name === null ? "" : ` "${name}"`;
  return `- ${agent}${title}, last task ${taskId}, ${status}: ${oneLine(task, 100)}`;
}

function oneLine(text: string, chars = 500): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > chars ? `${line.slice(0, chars).trimEnd()}…` : line;
}
