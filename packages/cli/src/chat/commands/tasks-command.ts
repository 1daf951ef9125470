import type { TaskRecord, TaskStatus } from "@holdfast/subagents";
import stringWidth from "string-width";
import { clip, formatDuration, plural, printTable } from "../../terminal/format.js";
import { quoteLines } from "../../terminal/quote-lines.js";
import { safeLine, safeName } from "../../terminal/safe-text.js";
import { inputView } from "../input-view.js";
import type { InteractiveTurns } from "../interactive-turns.js";
import { type Chat, sessionOf } from "../open-chat.js";
import { agentTitle, type StatusLine } from "../status-line.js";

/** Finished tasks that are listed; all others always are. */
const MAX_FINISHED = 20;

const statusWords: Readonly<Record<TaskStatus, string>> = {
  running: "running",
  waiting: "waits for you",
  paused: "paused",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  lost: "lost",
};

/** Runs `/tasks`: lists the tasks of subagents, shows one, cancels one, or asks about what one waits for. */
export async function tasksCommand(
  chat: Chat,
  argument: string,
  turns: Pick<InteractiveTurns, "answerTask">,
): Promise<void> {
  const { terminal, subagents } = chat;
  const [first = "", second = "", ...more] = argument.split(/\s+/u);
  const isVerb = first === "cancel" || first === "answer";
  if (subagents === null) {
    terminal.line("This agent has no subagents() of @holdfast/subagents.");
  } else if (more.length > 0 || isVerb === (second === "")) {
    terminal.line("/tasks, /tasks <id>, /tasks cancel <id> or /tasks answer <id>");
  } else {
    const tasks = await subagents.tasks(sessionOf(chat));
    if (first === "") list(chat, tasks);
    else await withTask(chat, tasks, isVerb ? second : first, isVerb ? first : "show", turns);
  }
}

/** Describes the tasks of the session that a person should know of: those that wait, and those that run elsewhere. */
export async function openTaskLines(chat: Chat): Promise<readonly StatusLine[]> {
  const tasks = (await chat.subagents?.tasks(sessionOf(chat))) ?? [];
  const waiting = tasks.filter(({ status, isBackground }) => status === "waiting" && isBackground);
  const running = tasks.filter(
    ({ status, taskId }) => status === "running" && !chat.running.has(taskId),
  );
  const lines: StatusLine[] = waiting.map(({ taskId, agent, label }) => ({
    kind: "problem",
    text: `${agentTitle(agent, label)} waits for your approval; /tasks answer ${taskId}`,
    isWhole: true,
  }));
  const verb = running.length === 1 ? "runs" : "run";
  const text = `${plural(running.length, "task")} of this session ${verb} in another process; /tasks lists them`;
  return running.length > 0 ? [...lines, { kind: "note", text }] : lines;
}

function list({ terminal }: Chat, tasks: readonly TaskRecord[]): void {
  if (tasks.length === 0) {
    terminal.line("No task was given to a subagent in this session.");
    return;
  }
  const finished = tasks.filter(isFinished);
  const hidden = new Set(finished.slice(0, Math.max(0, finished.length - MAX_FINISHED)));
  const rows = tasks
    .filter((task) => !hidden.has(task))
    .map((task) => [
      task.taskId,
      agentTitle(task.agent, task.label),
      statusWords[task.status],
      timeOf(task),
      safeLine(task.task),
    ]);
  const headings = ["TASK", "AGENT", "STATUS", "TIME", "FIRST WORDS"];
  // The last column takes what the others leave of the line.
  const widths = headings
    .slice(0, -1)
    .map((_, column) => Math.max(...[headings, ...rows].map((row) => widthOf(row[column]))));
  const used = widths.reduce((sum, width) => sum + width + 2, 0);
  const room = Math.max(16, terminal.columns - 1 - used);
  printTable(
    terminal,
    headings,
    rows.map((row) => [...row.slice(0, -1), clip(row.at(-1) ?? "", room)]),
  );
  const hints = [
    ...(hidden.size > 0 ? [`${plural(hidden.size, "older task")} not listed`] : []),
    ...(tasks.some(({ status }) => status === "waiting")
      ? ["/tasks answer <id> asks you about what a task waits for"]
      : []),
  ];
  for (const hint of hints) terminal.line(terminal.colors.dim(hint));
}

async function withTask(
  chat: Chat,
  tasks: readonly TaskRecord[],
  id: string,
  verb: string,
  turns: Pick<InteractiveTurns, "answerTask">,
): Promise<void> {
  const { terminal, subagents } = chat;
  const found = tasks.filter(({ taskId }) => taskId === id);
  const alike = tasks.filter(({ taskId }) => taskId.replace("task_", "").startsWith(shortId(id)));
  const [task, ...others] = found.length > 0 ? found : alike;
  if (task === undefined || others.length > 0) {
    const what = task === undefined ? "There is no task" : "More than one task begins with";
    terminal.line(`${what} ${safeLine(id)}; /tasks lists them.`);
  } else if (verb === "show") {
    await show(chat, task);
  } else if (isFinished(task)) {
    terminal.line(`${safeName(task.taskId)} is over: ${statusWords[task.status]}.`);
  } else if (verb === "cancel") {
    // The event of its end prints the line.
    await subagents?.cancel(sessionOf(chat), task.taskId);
  } else if (task.status === "waiting") {
    await turns.answerTask(task);
  } else {
    terminal.line(`${safeName(task.taskId)} waits for nothing: ${statusWords[task.status]}.`);
  }
}

async function show(chat: Chat, task: TaskRecord): Promise<void> {
  const { terminal, subagents } = chat;
  const { taskId, childSessionId, status, result, error } = task;
  const again = task.attempt > 1 ? `, attempt ${task.attempt}` : "";
  const title = safeLine(agentTitle(task.agent, task.label));
  terminal.line(`${safeName(taskId)} of ${title}: ${statusWords[status]}, ${timeOf(task)}${again}`);
  const quote = (text: string): void => {
    for (const row of quoteLines(text, terminal.columns)) terminal.line(row);
  };
  quote(inputView({ task: task.task }).text);
  if (status === "waiting") {
    const calls = (await subagents?.pending(sessionOf(chat), taskId)) ?? [];
    const names = calls.map(({ name }) => safeName(name)).join(", ");
    terminal.line(`it waits for your approval of ${names}; /tasks answer ${safeName(taskId)}`);
  }
  if (error !== null) {
    terminal.line("error:");
    quote(error);
  }
  if (result !== null) {
    terminal.line("result:");
    quote(result);
  }
  const command = `holdfast sessions show ${safeName(childSessionId)}`;
  terminal.line(terminal.colors.dim(`what it did: ${command}`));
}

function shortId(id: string): string {
  return id.replace(/^task_/u, "");
}

function isFinished({ endedAt }: TaskRecord): boolean {
  return endedAt !== null;
}

/** Returns how long a task took, or how long ago it began. */
function timeOf({ startedAt, endedAt }: TaskRecord): string {
  const end = endedAt === null ? Date.now() : Date.parse(endedAt);
  return formatDuration(Math.max(0, end - Date.parse(startedAt)));
}

function widthOf(cell: string | undefined): number {
  return stringWidth(safeName(cell ?? ""));
}
