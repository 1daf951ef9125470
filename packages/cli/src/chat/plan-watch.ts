import type { AgentState, Task } from "@holdfast/core";
import { safeLine } from "../terminal/safe-text.js";
import { type Chat, sessionOf } from "./open-chat.js";

const marks: Readonly<Record<Task["status"], string>> = {
  pending: "[ ]",
  in_progress: "[~]",
  completed: "[x]",
};

const PLANNING = "plan mode is on: tools only read; /plan shows the plan";

/** Formats a todo list, one task per line. */
export function todoLines(tasks: readonly Task[]): readonly string[] {
  return tasks.map(({ status, content }) => `${marks[status]} ${safeLine(content)}`);
}

/** Plan mode and todo list of a session, as a person knows them. */
interface Known {
  readonly isPlanning: boolean;
  readonly todos: readonly string[];
}

/** Notices what a turn changes in the plan mode and the todo list of a session. */
export class PlanWatch {
  #known: Known = knownIn(null);

  /** Starts with a session as it is now. @returns lines about what limits the agent in it */
  async begin(chat: Chat): Promise<readonly string[]> {
    this.#known = knownIn(await chat.agent.getAgentState(sessionOf(chat)));
    return this.#known.isPlanning ? [PLANNING] : [];
  }

  /** Describes the changes since the last time, in lines. */
  async changes(chat: Chat): Promise<readonly string[]> {
    const before = this.#known;
    await this.begin(chat);
    const { isPlanning, todos } = this.#known;
    const mode = isPlanning ? PLANNING : "plan mode is off";
    const areSame = todos.join("\n") === before.todos.join("\n");
    return [
      ...(isPlanning === before.isPlanning ? [] : [mode]),
      ...(areSame ? [] : todos.length === 0 ? ["the todo list is empty"] : todos),
    ];
  }
}

function knownIn(state: AgentState | null): Known {
  return {
    isPlanning: state?.planModeContext.active ?? false,
    todos: todoLines(state?.tasksContext.tasks ?? []),
  };
}
