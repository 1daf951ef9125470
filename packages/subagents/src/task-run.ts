import type { AgentEvent, AgentReply } from "@holdfast/core";

/** Thrown into a subagent's call whose task is not its own any more: it was cancelled, or taken for lost. */
export class TaskGone extends Error {
  override readonly name = "TaskGone";
}

/** One run of a task; the context of the subagent's call carries it to the hooks of the plugin. */
export class TaskRun {
  /** Name of the subagent. */
  readonly agent: string;
  /** Claims the task once the call holds the subagent's session. @throws TaskGone */
  readonly begin: () => Promise<void>;
  /** Records the end of the task while the call still holds the session. */
  readonly end: (reply: AgentReply) => Promise<void>;
  /** Passes an event of the subagent on. */
  readonly forward: (event: AgentEvent) => void;

  constructor(hooks: Pick<TaskRun, "agent" | "begin" | "end" | "forward">) {
    this.agent = hooks.agent;
    this.begin = hooks.begin;
    this.end = hooks.end;
    this.forward = hooks.forward;
  }
}
