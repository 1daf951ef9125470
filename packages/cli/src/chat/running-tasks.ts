import type { AgentEvent } from "@holdfast/core";
import { slotKey } from "@holdfast/core/store-kit";
import { plural } from "../terminal/format.js";

/** Time in which a run whose call has ended reports how. One that was ended from elsewhere reports nothing. */
const REPORT_MS = 1_000;

/** Task that a subagent works on in this process. */
interface RunningTask {
  readonly taskId: string;
  readonly childSessionId: string;
}

/** Tasks of subagents that this process works on, those that subagents gave to others included. */
export class RunningTasks {
  readonly #tasks = new Map<string, RunningTask>();
  /** Calls in flight, with their sessions. */
  readonly #calls = new Map<string, string>();
  readonly #watchers = new Set<() => void>();

  get count(): number {
    return this.#tasks.size;
  }

  /** Tells whether this process works on a task. */
  has(taskId: string): boolean {
    return [...this.#tasks.values()].some((task) => task.taskId === taskId);
  }

  /** Takes note of an event, whichever session it is about. */
  note(event: AgentEvent): void {
    if (event.type === "task_start") {
      const { taskId, sessionId: childSessionId } = event;
      this.#tasks.set(keyOf(event), { taskId, childSessionId });
    } else if (event.type === "task_end" || event.type === "task_waiting") {
      this.#remove(keyOf(event));
    } else if (event.type === "call_start") {
      this.#calls.set(callKeyOf(event), event.slot.sessionId);
    } else if (event.type === "call_end") {
      this.#calls.delete(callKeyOf(event));
      const { sessionId } = event.slot;
      const isOfTask = [...this.#tasks.values()].some((task) => task.childSessionId === sessionId);
      if (isOfTask) setTimeout(() => this.#removeLeft(sessionId), REPORT_MS).unref();
    }
  }

  /** Waits until nothing runs, or `signal` aborts. */
  async finished(signal: AbortSignal): Promise<void> {
    while (this.count > 0 && !signal.aborted)
      await new Promise<void>((resolve) => {
        const look = (): void => {
          this.#watchers.delete(look);
          signal.removeEventListener("abort", look);
          resolve();
        };
        this.#watchers.add(look);
        signal.addEventListener("abort", look);
      });
  }

  /** Removes the tasks of a session that no call works on any more. */
  #removeLeft(sessionId: string): void {
    if ([...this.#calls.values()].includes(sessionId)) return;
    for (const [key, { childSessionId }] of this.#tasks)
      if (childSessionId === sessionId) this.#remove(key);
  }

  #remove(key: string): void {
    if (this.#tasks.delete(key)) for (const look of this.#watchers) look();
  }
}

/** Says that background tasks do not end with the chat. */
export function pauseText(count: number): string {
  const [verb, whose] = count === 1 ? ["goes", "its session is"] : ["go", "their sessions are"];
  return `pausing ${plural(count, "background task")}, which ${verb} on when ${whose} continued; Ctrl-C hurries`;
}

function keyOf({ slot, taskId }: Extract<AgentEvent, { readonly taskId: string }>): string {
  return `${slotKey(slot)} ${taskId}`;
}

function callKeyOf({ slot, callId, runId }: AgentEvent): string {
  return `${slotKey(slot)} ${runId ?? callId}`;
}
