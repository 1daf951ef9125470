import type {
  Block,
  CallStep,
  ModelCallStep,
  PluginState,
  ReasoningStep,
  RuntimeContext,
  Slot,
  ToolCallContext,
  ToolCallStep,
  ToolResultBlock,
} from "@holdfast/core";
import { cutText, markQuoter } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import type { TaskControl } from "./task-control.js";
import { isFinished } from "./tasks/task-life.js";
import type { TaskRecord } from "./tasks/task-record.js";
import type { TaskStore } from "./tasks/task-store.js";

/** Characters of a result that a notice shows; `task_output` has the rest. */
const NOTICE_CHARS = 8_000;
/** Most tasks that one request tells about; the others follow with the next. */
const MAX_NOTICES = 10;

/** Source of the hints that tell about tasks. */
const SOURCE = "subagents";

/** State of `subagents()` in a session: what the model has been told. It is saved with the reply to the request that did. */
export type NoticeState = {
  /** Tasks whose end was told and whose records still stand among the open ones. */
  readonly told: readonly string[];
  /** Waits for a person that were told, by task and call. */
  readonly asks: readonly string[];
};

/** Schema of {@link NoticeState}. */
export const noticeStateSchema: s.Schema<NoticeState> = s.object({
  told: s.array(s.string()),
  asks: s.array(s.string()),
});

/** Tasks of a session that its running call has to look after. */
class OpenTasks {
  readonly ids: Set<string>;
  /** Tasks whose end a tool is about to show, by tool call. */
  readonly shown = new Map<string, string>();
  /** Tasks that a tool call waits for. */
  readonly waitedFor = new Set<string>();
  /** True once the model has been sent the notices of the step. */
  isAsked = false;

  constructor(ids: readonly string[]) {
    this.ids = new Set(ids);
  }
}

/** Parts of {@link TaskNotices}. */
export interface TaskNoticesParts {
  readonly store: TaskStore;
  readonly control: TaskControl;
  readonly state: PluginState<NoticeState>;
}

/**
 * Tells the model how its background tasks ended, each once: at the end of a request, and never in the conversation.
 *
 * That a task was told is part of the session's state and saved with the reply. A call that dies before takes both with it, and
 * the next one tells again.
 */
export class TaskNotices {
  readonly #parts: TaskNoticesParts;

  constructor(parts: TaskNoticesParts) {
    this.#parts = parts;
  }

  /** Looks at the open tasks of a session when a call begins: puts away what was told, and settles what others left. */
  async begin({ slot, ctx, state }: CallStep): Promise<void> {
    const { store, control, state: notices } = this.#parts;
    const { told, asks } = notices.get(state);
    const { tasks } = await store.listOpen(slot);
    const open = tasks.filter(({ taskId }) => !told.includes(taskId));
    for (const { taskId, status } of tasks)
      if (told.includes(taskId) && isFinished(status)) await store.archive(slot, taskId);
    for (const record of open) {
      const { taskId, status, isBackground, toolCallId } = record;
      const call = state.openCalls[toolCallId];
      // The call that was to pass its questions on was closed: nobody will answer them.
      if (status === "waiting" && !isBackground && call === undefined) {
        await control.cancel(slot, taskId);
        continue;
      }
      // The call that waited for it died with its process, and will not run again.
      const isLeft = !isBackground && (call === undefined || call === "started");
      const left = isLeft ? await control.moveToBackground(slot, taskId) : null;
      await control.settle(slot, left ?? record, ctx);
    }
    const isOpen = (taskId: string) => tasks.some((task) => task.taskId === taskId);
    const kept = { told: told.filter((id) => isOpen(id) && !isDone(tasks, id)), asks };
    if (told.length > 0) notices.set(state, kept);
    ctx.put(OpenTasks, new OpenTasks(open.map(({ taskId }) => taskId)));
  }

  /** Adds a task that the running call has begun. */
  watch(ctx: RuntimeContext, taskId: string): void {
    ctx.get(OpenTasks)?.ids.add(taskId);
  }

  /** Notes that a tool call of the running call waits for a task; false when another does already. */
  waitFor(ctx: RuntimeContext, taskId: string): boolean {
    const waitedFor = ctx.get(OpenTasks)?.waitedFor;
    if (waitedFor?.has(taskId)) return false;
    waitedFor?.add(taskId);
    return true;
  }

  /** Notes that no tool call waits for a task any more. */
  waitedFor(ctx: RuntimeContext, taskId: string): void {
    ctx.get(OpenTasks)?.waitedFor.delete(taskId);
  }

  /** Expects the end of a task to be in the result of a tool call; {@link toolEnded} notes that it is. */
  showByTool(ctx: ToolCallContext, { taskId, status }: TaskRecord): void {
    if (isFinished(status)) ctx.get(OpenTasks)?.shown.set(ctx.toolCallId, taskId);
  }

  /** Notes the task whose end the model sees in the result of a tool call, unless the call was stopped before it was there. */
  toolEnded({ ctx, state }: ToolCallStep, { toolCallId, state: end }: ToolResultBlock): void {
    const open = ctx.get(OpenTasks);
    const taskId = open?.shown.get(toolCallId);
    if (taskId === undefined || end !== "success") return;
    this.#note(state, [taskId], []);
    open?.ids.delete(taskId);
  }

  /** Runs one step of reasoning with the notices that are due. Returns the tasks whose end was told. */
  async during<T>(
    step: ReasoningStep,
    reason: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly told: readonly TaskRecord[] }> {
    const { ended, asking } = await this.#due(step);
    if (ended.length > 0) step.hint(endedNotice(ended), SOURCE);
    if (asking.length > 0) step.hint(askingNotice(asking), SOURCE);
    const open = step.ctx.get(OpenTasks);
    if (open) open.isAsked = false;
    const result = await reason();
    // A middleware, such as a budget, has answered in the place of the model.
    if (!open?.isAsked) return { result, told: [] };
    this.#note(
      step.state,
      ended.map(({ taskId }) => taskId),
      asking.map(askKey),
    );
    for (const { taskId } of ended) open.ids.delete(taskId);
    return { result, told: ended };
  }

  /** Notes that the model is sent the notices, if they are part of the request. */
  asked({ ctx, request }: Pick<ModelCallStep, "ctx" | "request">): void {
    const open = ctx.get(OpenTasks);
    const isNotice = (block: Block) => block.type === "hint" && block.source === SOURCE;
    if (open && request.messages.some(({ content }) => content.some(isNotice))) open.isAsked = true;
  }

  async #due({ slot, ctx, state }: ReasoningStep): Promise<{
    readonly ended: readonly TaskRecord[];
    readonly asking: readonly TaskRecord[];
  }> {
    const ids = [...(ctx.get(OpenTasks)?.ids ?? [])];
    const { told, asks } = this.#parts.state.get(state);
    const records: TaskRecord[] = [];
    for (const taskId of ids) {
      if (this.#parts.control.isRunningHere(slot, taskId) || told.includes(taskId)) continue;
      const record = await this.#read(slot, taskId, ctx);
      if (record) records.push(record);
    }
    return {
      ended: records.filter(({ status }) => isFinished(status)).slice(0, MAX_NOTICES),
      asking: records.filter(
        (record) =>
          record.status === "waiting" && record.isBackground && !asks.includes(askKey(record)),
      ),
    };
  }

  #read(slot: Slot, taskId: string, ctx: RuntimeContext): Promise<TaskRecord | null> {
    return this.#parts.control.inspect(slot, taskId, ctx);
  }

  #note(state: CallStep["state"], ended: readonly string[], asking: readonly string[]): void {
    if (ended.length === 0 && asking.length === 0) return;
    const { told, asks } = this.#parts.state.get(state);
    this.#parts.state.set(state, {
      told: [...new Set([...told, ...ended])],
      // Only those of open tasks can be told again.
      asks: [...new Set([...asks, ...asking])].slice(-MAX_ASKS),
    });
  }
}

/** Most waits that are remembered as told. */
const MAX_ASKS = 200;

function askKey({ taskId, callId }: TaskRecord): string {
  return `${taskId} ${callId}`;
}

function isDone(tasks: readonly TaskRecord[], id: string): boolean {
  return tasks.some(({ taskId, status }) => taskId === id && isFinished(status));
}

const quote = markQuoter(["task"]);

/** Returns a task's end in words for the model; what a subagent said is quoted, since it may repeat what strangers wrote. */
export function showTask(record: TaskRecord, maxChars: number): string {
  const { taskId, agent, label, status, result, error } = record;
  const name = `${agent}${label === null ? "" : ` (${label})`}`;
  const head = `Task ${taskId} of ${name}: ${statusWords[status]}`;
  const text = result ?? "";
  const cut = cutText(text, maxChars);
  return [
    `${head}.${error === null ? "" : ` ${error}`}`,
    ...(result === null
      ? []
      : [
          `<task>\n${quote(cut)}\n</task>`,
          ...(cut.length < text.length
            ? [`That is the beginning; task_output has all ${text.length} characters.`]
            : []),
        ]),
  ].join("\n");
}

const statusWords: { readonly [S in TaskRecord["status"]]: string } = {
  running: "still running",
  waiting: "waits for a person to answer what it asks",
  paused: "paused by a shutdown; it goes on with the next call",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  lost: "lost",
};

function endedNotice(ended: readonly TaskRecord[]): string {
  return [
    "Background tasks that you gave to subagents have ended. You are told this once; task_output shows a result again.",
    ...ended.map((record) => showTask(record, NOTICE_CHARS)),
  ].join("\n\n");
}

function askingNotice(asking: readonly TaskRecord[]): string {
  return [
    "These background tasks wait for the user to approve a tool call or to answer a question. Call task_output with block: true to have the user asked.",
    ...asking.map(
      ({ taskId, agent, label }) => `- ${taskId}, ${agent}${label ? ` (${label})` : ""}`,
    ),
  ].join("\n");
}
