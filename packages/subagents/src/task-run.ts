import type { AgentEvent, AgentReply, RuntimeContext } from "@holdfast/core";

/** Thrown into a subagent's call whose task is not its own any more: it was cancelled, or taken for lost. */
export class TaskGone extends Error {
  override readonly name = "TaskGone";
}

/** One run of a task; the context of the subagent's call carries it to the hooks of the plugin. */
export class TaskRun {
  /** Name of the subagent. */
  readonly agent: string;
  /** Call of the subagent that the run is. */
  readonly callId: string;
  /** Claims the task once the call holds the subagent's session. @throws TaskGone */
  readonly begin: () => Promise<void>;
  /** Records the end of the task while the call still holds the session. */
  readonly end: (reply: AgentReply) => Promise<void>;
  /** Passes an event of the subagent on. */
  readonly forward: (event: AgentEvent) => void;

  constructor(run: TaskRun) {
    this.agent = run.agent;
    this.callId = run.callId;
    this.begin = run.begin;
    this.end = run.end;
    this.forward = run.forward;
  }
}

/** Returns the run of a task that the call of a context is; contexts made of that one carry it too, and are not. */
export function taskRunOf(ctx: RuntimeContext): TaskRun | undefined {
  const run = ctx.get(TaskRun);
  return run?.callId === ctx.callId ? run : undefined;
}
