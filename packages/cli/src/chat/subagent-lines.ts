import type { AgentEvent, Slot } from "@holdfast/core";
import { slotKey } from "@holdfast/core/store-kit";
import { formatDuration, plural } from "../terminal/format.js";
import { briefInput } from "./input-view.js";
import { agentTitle, type StatusLine, statusLine } from "./status-line.js";

/** Options of {@link SubagentLines}. */
export interface SubagentLinesOptions {
  /** There is a person who can type `/tasks`. */
  readonly hasCommands: boolean;
  /** Tells whether a session is the one of the chat. */
  isHere(slot: Slot): boolean;
}

/** Events of which an agent's tasks consist. */
type TaskEvent = Extract<AgentEvent, { readonly taskId: string }>;

/**
 * Describes the work of subagents in status lines, indented below the call that waits for it: their tool calls, problems, and
 * how they end. Of tasks in the background only the beginning and the end are shown.
 */
export class SubagentLines {
  readonly #options: SubagentLinesOptions;
  /** Tasks in progress: since when, and whether a call waits for them. */
  readonly #tasks = new Map<string, { readonly since: number; readonly isBackground: boolean }>();

  constructor(options: SubagentLinesOptions) {
    this.#options = options;
  }

  /** Describes an event about a subagent; null for all others, and for those that are not shown. */
  describe(event: AgentEvent, depth: number = event.background ? 0 : 1): StatusLine | null {
    switch (event.type) {
      case "subagent_event":
        return this.#inside(event, depth);
      case "task_start":
      case "task_background":
      case "task_waiting":
      case "task_end": {
        const line = this.#taskLine(event);
        return line && { ...line, depth };
      }
      case "subagent_problem":
        return { kind: "problem", text: `${event.file} cannot be used: ${event.problem}` };
      default:
        return null;
    }
  }

  /** Describes an event of a subagent that a call waits for. */
  #inside(
    event: Extract<AgentEvent, { readonly type: "subagent_event" }>,
    depth: number,
  ): StatusLine | null {
    if (this.#tasks.get(keyOf(event))?.isBackground !== false) return null;
    const { event: inner, agent, label } = event;
    const nested = this.describe(inner, depth + 1);
    if (nested !== null || inner.type === "subagent_event") return nested;
    const title = agentTitle(agent, label);
    if (inner.type === "tool_call_end")
      return { kind: "note", text: `${title} → ${inner.name} ${briefInput(inner)}`, depth };
    const line = statusLine(inner);
    if (line?.kind !== "problem") return null;
    const colon = inner.type === "tool_result" ? "" : ":";
    return { kind: "problem", text: `${title}${colon} ${line.text}`, depth };
  }

  #taskLine(
    event: Exclude<TaskEvent, { readonly type: "subagent_event" | "task_delivered" }>,
  ): StatusLine | null {
    const { taskId } = event;
    const title = this.#title(event);
    const key = keyOf(event);
    const task = this.#tasks.get(key);
    switch (event.type) {
      case "task_start": {
        const { isBackground, attempt } = event;
        this.#tasks.set(key, { since: task?.since ?? performance.now(), isBackground });
        const isResumed = attempt > 1 || task !== undefined;
        if (isBackground)
          return whole(`${title} ${isResumed ? "goes on" : "works"} in the background, ${taskId}`);
        return attempt > 1 ? note(`${title} goes on`) : null;
      }
      case "task_background":
        this.#tasks.set(key, { since: task?.since ?? performance.now(), isBackground: true });
        return whole(`${title} takes longer and goes on in the background, ${taskId}`);
      case "task_waiting":
        // One that waits for another agent's question has nothing to add to that one's line.
        if (!event.isBackground && event.pending.every(({ agent }) => agent !== event.agent))
          return null;
        return this.#waitingLine(event, title);
      case "task_end": {
        this.#tasks.delete(key);
        const took = task ? `, ${formatDuration(performance.now() - task.since)}` : "";
        return this.#endLine(event, title, took);
      }
    }
  }

  #waitingLine(
    { taskId, slot, isBackground, pending }: Extract<AgentEvent, { readonly type: "task_waiting" }>,
    title: string,
  ): StatusLine {
    const calls = [...new Set(pending.map(({ name }) => name))].join(", ");
    const text = `${title} waits for your approval of ${calls || plural(pending.length, "call")}`;
    // What a task in the foreground wants is asked as soon as the turn ends.
    const isAnswerable = isBackground && this.#options.hasCommands && this.#options.isHere(slot);
    const how = isAnswerable ? `; /tasks answer ${taskId}` : "";
    return { kind: "problem", text: `${text}${how}`, isWhole: true };
  }

  #endLine(
    event: Extract<AgentEvent, { readonly type: "task_end" }>,
    title: string,
    took: string,
  ): StatusLine {
    const { status, error, isBackground, taskId, slot } = event;
    const reason = error === undefined ? "" : `: ${error}`;
    switch (status) {
      case "completed": {
        const isShown = isBackground && this.#options.hasCommands && this.#options.isHere(slot);
        const how = isShown ? `; /tasks ${taskId} shows the result` : "";
        return whole(`${title} completed${took}${how}`);
      }
      case "failed":
        return { kind: "problem", text: `${title} failed${took}${reason}` };
      case "lost":
        return { kind: "problem", text: `${title} was lost${reason}` };
      case "cancelled":
        return note(`${title} was cancelled${took}`);
      case "paused":
        return note(`${title} is paused`);
    }
  }

  /** Names the subagent, and the session it works for where that is not the one of the chat. */
  #title({ agent, label, slot, background }: TaskEvent): string {
    const title = agentTitle(agent, label);
    if (!background || this.#options.isHere(slot)) return title;
    const [, parent] = /\/([^/]+)$/u.exec(slot.agentId) ?? [];
    return `${title} (for ${parent ?? `session ${slot.sessionId}`})`;
  }
}

function keyOf({ slot, taskId }: TaskEvent): string {
  return `${slotKey(slot)} ${taskId}`;
}

function note(text: string): StatusLine {
  return { kind: "note", text };
}

/** Makes a line with something to type, which must not be cut. */
function whole(text: string): StatusLine {
  return { ...note(text), isWhole: true };
}
