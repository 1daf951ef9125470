import type { AgentEvent, JsonValue } from "@holdfast/core";

/** Something that happens while a call runs and is not part of the conversation. */
export interface Notice {
  readonly name: string;
  /** Names what it is about; a later notice of the same name and id replaces this one. */
  readonly id?: string | undefined;
  readonly data: JsonValue;
}

/** Returns what a front end may show of an event for the moment, in every protocol alike; null for nothing. */
export function noticeOf(event: AgentEvent): Notice | null {
  switch (event.type) {
    case "queue_wait":
      return notice("queue", { ahead: event.ahead });
    case "model_call_end": {
      if (event.purpose !== "reasoning" || event.error !== undefined) return null;
      const { usage, contextTokens, contextWindow } = event;
      return notice("context", { usage, contextTokens, contextWindow });
    }
    case "tool_progress": {
      const { toolCallId, name, progress } = event;
      return notice("tool-progress", { toolCallId, name, progress }, toolCallId);
    }
    case "compaction_start":
      return notice("compaction", { status: "running", cause: event.cause });
    case "compaction_failed":
      return notice("compaction", { status: "failed", cause: event.cause });
    case "todos_changed":
      return notice("todos", { todos: event.todos });
    case "plan_entered":
    case "plan_written":
      return notice("plan", { active: true, planFile: event.planFile });
    case "plan_exited":
      return notice("plan", { active: false, planFile: event.planFile });
    case "task_start":
      return taskNotice(event, "running");
    case "task_waiting":
      return taskNotice(event, "waiting");
    case "task_end":
      return taskNotice(event, event.status);
    case "budget_warning":
    case "budget_exceeded": {
      const { scope, unit, used, limit, resetsAt } = event;
      return notice("budget", { scope, unit, used, limit, resetsAt });
    }
    case "run_lost":
      return notice("run", { status: "lost" });
    case "run_resumed":
      return notice("run", { status: "resumed" });
    default:
      return null;
  }
}

function taskNotice(
  { taskId, agent, label }: { taskId: string; agent: string; label: string | null },
  status: string,
): Notice {
  return notice("task", { taskId, agent, label, status }, taskId);
}

function notice(name: string, data: object, id?: string): Notice {
  // Events hold nothing but JSON, and so do parts of them.
  return { name, data: data as unknown as JsonValue, ...(id !== undefined && { id }) };
}
