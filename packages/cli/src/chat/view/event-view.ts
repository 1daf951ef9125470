import type { AgentEvent, Slot } from "@holdfast/core";
import { slotKey } from "@holdfast/core/store-kit";
import { safeLine } from "../../terminal/safe-text.js";
import type { Theme } from "../screen/theme.js";
import { agentTitle, type StatusLine, statusLine } from "../status-line.js";
import { SubagentLines } from "../subagent-lines.js";
import type { Entry } from "./entry.js";
import { MarkdownEntry } from "./markdown-entry.js";
import { NoticeEntry, paintStatus, SaidEntry, ThinkingEntry } from "./simple-entries.js";
import { TaskEntry } from "./task-entry.js";
import { ToolEntry } from "./tool-entry.js";
import type { Transcript } from "./transcript.js";

/** Events that the entry of their tool call shows already. */
const shownByEntries: readonly string[] = ["tool_call_end", "tool_result", "queue_wait"];

/** Shows the events of calls as entries of a transcript. */
export class EventView {
  readonly #transcript: Transcript;
  readonly #theme: Theme;
  readonly #subagents: SubagentLines;
  /** Entries of a message, which are removed when it does not count. */
  readonly #byMessage = new Map<string, Entry[]>();
  readonly #tools = new Map<string, ToolEntry>();
  readonly #tasks = new Map<string, TaskEntry>();
  /** Block that grows. */
  #block: { readonly id: string; readonly entry: MarkdownEntry | ThinkingEntry } | null = null;

  /** @param isHere - tells whether a session is the one that is shown */
  constructor(transcript: Transcript, theme: Theme, isHere: (slot: Slot) => boolean) {
    this.#transcript = transcript;
    this.#theme = theme;
    this.#subagents = new SubagentLines({ isHere, hasCommands: true });
  }

  /** Shows an event. */
  show(event: AgentEvent): void {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        this.#grow(event);
        return;
      case "tool_call_start":
        this.#tool(event.toolCallId, event.name, event.messageId);
        return;
      case "tool_call_end":
        this.#tool(event.toolCallId, event.name).setInput(event.input);
        return;
      case "tool_progress":
        this.#tool(event.toolCallId, event.name).setProgress(event.progress);
        return;
      case "tool_result":
        this.#tool(event.toolCallId, event.name).setResult(event);
        this.#tools.delete(event.toolCallId);
        return;
      case "attempt_discarded":
        for (const entry of this.#byMessage.get(event.messageId) ?? [])
          this.#transcript.remove(entry);
        this.#endBlock();
        break;
      case "call_end":
        this.endCall();
        return;
      default:
        break;
    }
    if (this.#subagent(event)) return;
    const line = shownByEntries.includes(event.type) ? null : statusLine(event);
    if (line !== null) this.status(line);
  }

  /** Shows a message of the person. */
  said(text: string): void {
    this.#endBlock();
    this.#transcript.add(new SaidEntry(this.#theme, text));
  }

  /** Shows a line about what happened. */
  status({ kind, text, depth = 0 }: StatusLine): void {
    this.line(paintStatus(this.#theme, kind)("  ".repeat(depth) + safeLine(text)), "note");
  }

  /** Shows a line as it is. @param kind - lines of one kind stand together */
  line(text: string, kind = "output"): void {
    this.#endBlock();
    const { last } = this.#transcript;
    if (last instanceof NoticeEntry && last.kind === kind) last.add(text);
    else this.#transcript.add(new NoticeEntry(kind, [text]));
  }

  /** Ends what grows. Tool calls that wait for an answer get their results from another call. */
  endCall(): void {
    this.#endBlock();
    this.#byMessage.clear();
  }

  #grow(event: Extract<AgentEvent, { readonly type: "text_delta" | "thinking_delta" }>): void {
    const { type, blockId, messageId, text } = event;
    if (this.#block?.id !== blockId) {
      this.#endBlock();
      const isText = type === "text_delta";
      const entry = isText ? new MarkdownEntry(this.#theme) : new ThinkingEntry(this.#theme);
      this.#block = { id: blockId, entry: this.#add(entry, messageId) };
    }
    this.#block?.entry.append(text);
  }

  #endBlock(): void {
    if (this.#block?.entry instanceof ThinkingEntry) this.#block.entry.finish();
    this.#block = null;
  }

  #tool(toolCallId: string, name: string, messageId?: string): ToolEntry {
    let tool = this.#tools.get(toolCallId);
    if (tool === undefined) {
      this.#endBlock();
      tool = this.#add(new ToolEntry(this.#theme, name), messageId);
      this.#tools.set(toolCallId, tool);
    }
    return tool;
  }

  #add<T extends Entry>(entry: T, messageId: string | undefined): T {
    if (messageId !== undefined)
      this.#byMessage.set(messageId, [...(this.#byMessage.get(messageId) ?? []), entry]);
    return this.#transcript.add(entry);
  }

  /** Shows an event about a subagent. @returns false for other events */
  #subagent(event: AgentEvent): boolean {
    if (!("taskId" in event)) {
      const problem = this.#subagents.describe(event);
      if (problem !== null) this.status(problem);
      return problem !== null;
    }
    const line = this.#subagents.describe(event);
    const task = this.#taskOf(event);
    if (event.type === "subagent_event" && task !== undefined) {
      const inner = innermost(event.event);
      if (inner.type === "tool_call_end") task.countCall();
      if (inner.type === "model_call_end")
        task.countTokens(inner.usage.inputTokens + inner.usage.outputTokens);
    }
    if (line !== null && task !== undefined) task.add(line);
    else if (line !== null) this.status(line);
    if (event.type === "task_end" || event.type === "task_background")
      this.#tasks.delete(taskKey(event));
    return true;
  }

  /** @returns the entry of a task that a call waits for; those in the background have none */
  #taskOf(event: TaskEvent): TaskEntry | undefined {
    const key = taskKey(event);
    if (event.type === "task_start" && !event.isBackground && !this.#tasks.has(key)) {
      this.#endBlock();
      const title = agentTitle(event.agent, event.label);
      this.#tasks.set(key, this.#transcript.add(new TaskEntry(this.#theme, title)));
    }
    return this.#tasks.get(key);
  }
}

type TaskEvent = Extract<AgentEvent, { readonly taskId: string }>;

function taskKey({ slot, taskId }: TaskEvent): string {
  return `${slotKey(slot)} ${taskId}`;
}

function innermost(event: AgentEvent): AgentEvent {
  return event.type === "subagent_event" ? innermost(event.event) : event;
}
