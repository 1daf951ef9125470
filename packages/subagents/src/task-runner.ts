import {
  type AgentReply,
  type Confirmation,
  InvalidInputError,
  type PendingCall,
  type RuntimeContext,
  ShuttingDownError,
  type Slot,
} from "@holdfast/core";
import {
  cutText,
  type DerivedAgent,
  type QuestionAnswer,
  reasonOf,
} from "@holdfast/core/plugin-kit";
import { slotKey } from "@holdfast/core/store-kit";
import { askingCalls, type ChildSessions } from "./child-sessions.js";
import type { Catalogue } from "./definitions/catalogue.js";
import type { LiveCalls } from "./live-calls.js";
import { about, type TaskChanges } from "./task-changes.js";
import { TaskGone, TaskRun } from "./task-run.js";
import { hold, isRunOf, start, type TaskEnd } from "./tasks/task-life.js";
import type { TaskRecord } from "./tasks/task-record.js";

/** Parts of a {@link TaskRunner}. */
export interface TaskRunnerParts {
  readonly catalogue: Catalogue;
  readonly children: ChildSessions;
  readonly changes: TaskChanges;
  readonly live: LiveCalls;
  readonly maxResultChars: number;
}

/** Input of a subagent's call: the task, a person's answers, or nothing when it goes on with a run that was cut short. */
export type RunInput = string | RunAnswers | null;

/** Answers of a person to what a subagent asks. */
export type RunAnswers =
  | { readonly confirm: readonly Confirmation[] }
  | { readonly answers: readonly QuestionAnswer[] };

/** Runs tasks in this process. */
export class TaskRunner {
  readonly #parts: TaskRunnerParts;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
  }

  /**
   * Begins with a run of a task; resolves once the run has its session, waits for it behind others, or is over.
   *
   * @param ctx - that of the call which the task works for
   */
  async start(slot: Slot, record: TaskRecord, input: RunInput, ctx: RuntimeContext): Promise<void> {
    const key = keyOf(slot, record.taskId);
    await new Promise<void>((arrived) => {
      const running = this.#run(slot, record, input, ctx, arrived).finally(() => {
        this.#running.delete(key);
        arrived();
      });
      this.#running.set(key, running);
    });
  }

  /** Returns the run of a task in this process, which never rejects; undefined when there is none. */
  running(slot: Slot, taskId: string): Promise<void> | undefined {
    return this.#running.get(keyOf(slot, taskId));
  }

  /** Resolves once the ends of all runs that are over are recorded: that of a failed one follows its call. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Never rejects: whatever happens ends in the record, or leaves it to be found. */
  async #run(
    slot: Slot,
    record: TaskRecord,
    input: RunInput,
    parent: RuntimeContext,
    arrived: () => void,
  ): Promise<void> {
    const { childSessionId: sessionId, callId, attempt, isBackground } = record;
    const { catalogue, children, changes, live } = this.#parts;
    const ctx = children.contextOf(slot, parent, { sessionId, callId });
    const run = new TaskRun({
      ...{ agent: record.agent, callId },
      begin: async () => {
        await this.#begin(slot, record);
        arrived();
      },
      end: (reply) => this.#finish(slot, record, this.#outcomeOf(reply, record)),
      forward: (event) => {
        if (event.type === "queue_wait") arrived();
        live.get(slot)?.emit({ type: "subagent_event", ...about(record), event });
      },
    });
    ctx.put(TaskRun, run);
    try {
      const started = { ...about(record), sessionId, attempt, isBackground };
      changes.report(slot, record, { type: "task_start", ...started });
      const agent = children.worker(record.agent, await catalogue.find(record.agent), ctx);
      const reply = await callAgent(agent, record, input, ctx);
      await this.#finish(slot, record, this.#outcomeOf(reply, record));
      // Nobody could give the result that it waits for.
      if (reply.reason === "tool_suspended" && !asksOnly(reply.pending))
        await agent.interrupt(children.slotOf(slot, record));
    } catch (error) {
      if (error instanceof TaskGone) return;
      const paused = ShuttingDownError.is(error);
      await this.#finish(
        slot,
        record,
        paused ? { status: "paused" } : { status: "failed", error: reasonOf(error) },
      ).catch(() => undefined);
    }
  }

  async #begin(slot: Slot, run: TaskRecord): Promise<void> {
    const { record } = await this.#parts.changes.make(slot, run.taskId, (one) => start(one, run));
    if (record?.status !== "running" || !isRunOf(record, run))
      throw new TaskGone("the task was cancelled or given to another process");
  }

  /** Records how a run ended, once; a record that others have ended stays as it is. */
  async #finish(slot: Slot, run: TaskRecord, outcome: TaskOutcome): Promise<void> {
    const { changes } = this.#parts;
    const { status, pending = [], ...rest } = outcome;
    if (status !== "waiting" && status !== "paused") {
      await changes.end(slot, run.taskId, { ...rest, status, run });
      return;
    }
    const { record, isChanged } = await changes.make(slot, run.taskId, (stored) =>
      hold(stored, status, run, rest.usage),
    );
    if (!record || !isChanged) return;
    if (status === "waiting") changes.reportWaiting(slot, record, pending);
    else changes.reportEnd(slot, record);
  }

  #outcomeOf(reply: AgentReply, record: TaskRecord): TaskOutcome {
    const { inputTokens, outputTokens } = reply.usage;
    const usage = { inputTokens, outputTokens };
    switch (reply.reason) {
      case "permission_asking":
        return { status: "waiting", usage, pending: askingCalls(reply.pending, record) };
      case "tool_suspended":
        if (asksOnly(reply.pending))
          return { status: "waiting", usage, pending: askingCalls(reply.pending, record) };
        return {
          ...{ status: "failed", usage },
          error: "It called a tool whose result comes from outside, and it cannot wait for that.",
        };
      case "interrupted":
        return { status: "cancelled", usage, error: "It was interrupted." };
      case "shutdown":
        return { status: "paused", usage };
      default: {
        const result = cutText(reply.text, this.#parts.maxResultChars);
        return { status: "completed", usage, result };
      }
    }
  }
}

/** End of a run, for its record. */
interface TaskOutcome extends Pick<TaskEnd, "result" | "error" | "usage"> {
  readonly status: TaskEnd["status"] | "waiting" | "paused";
  readonly pending?: readonly PendingCall[];
}

/** Tells whether everything that a subagent waits for are answers of a person. */
function asksOnly(pending: readonly PendingCall[]): boolean {
  return pending.every(({ question }) => question !== undefined);
}

function keyOf(slot: Slot, taskId: string): string {
  return `${slotKey(slot)} ${taskId}`;
}

/** Calls a subagent; without an input it goes on with the run of the record, which may not have begun. */
async function callAgent(
  agent: DerivedAgent,
  { task, callId, taskId }: TaskRecord,
  input: RunInput,
  ctx: RuntimeContext,
): Promise<AgentReply> {
  if (input !== null) return agent.call(input, ctx);
  const resumed = await agent.resume(ctx, { callId });
  if (resumed) return resumed;
  if (callId === taskId) return agent.call(task, ctx);
  throw new InvalidInputError("the answers that it was to go on with were lost with its process");
}
