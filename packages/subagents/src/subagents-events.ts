import type { AgentEvent, PendingCall } from "@holdfast/core";
import type { TaskStatus } from "./tasks/task-record.js";

/** Fields of every event about a task. */
export interface TaskEvent {
  readonly taskId: string;
  /** Name of the subagent. */
  readonly agent: string;
  readonly label: string | null;
}

/** Events of `subagents()`. */
export interface SubagentsEvents {
  /** A subagent begins to work on a task, goes on after an answer, or takes a task over: `attempt` is above 1 then. */
  readonly task_start: TaskEvent & {
    /** Session of the subagent, under the agent id `<agentId>/<agent>`. */
    readonly sessionId: string;
    readonly attempt: number;
    /** True when no tool call waits for the result. */
    readonly isBackground: boolean;
  };
  /** A tool call stops waiting for the task, which goes on in the background. */
  readonly task_background: TaskEvent;
  /** The subagent waits for a person to answer `pending`. */
  readonly task_waiting: TaskEvent & {
    readonly pending: readonly PendingCall[];
    /** True when no tool call waits for the result: `confirm` of the plugin answers, and not the agent's next call. */
    readonly isBackground: boolean;
  };
  /** The task is over, or paused by a shutdown; a `lost` one was found without the process that worked on it. */
  readonly task_end: TaskEvent & {
    readonly status: Exclude<TaskStatus, "running" | "waiting">;
    /** True when no tool call waited for the result. */
    readonly isBackground: boolean;
    /** Reason of a task that failed, was cancelled or was lost. */
    readonly error?: string | undefined;
  };
  /** A request has told the model how a task ended. Ends that the result of a tool shows have no such event. */
  readonly task_delivered: TaskEvent & { readonly status: TaskStatus };
  /** Event of a subagent, as it emitted it, while a call of the session that it works for runs in the same process. */
  readonly subagent_event: TaskEvent & { readonly event: AgentEvent };
  /** A file with the definition of a subagent cannot be used. */
  readonly subagent_problem: { readonly file: string; readonly problem: string };
}

declare module "@holdfast/core" {
  interface EventTypes extends SubagentsEvents {}
}
