import type { Task, Tool } from "@holdfast/core";
import { failedResult, safeTool } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { stateOf } from "./plan-tools.js";
import { CallEvents } from "./planning-events.js";
import {
  isSameList,
  MAX_TODO_CHARS,
  MAX_TODOS,
  replaceTodos,
  showTodos,
  todosProblem,
} from "./todo-list.js";

const todo = s.object({
  id: s.string().min(1).max(64).optional().describe("Of an item in the list; new items get one"),
  content: s.string().trim().min(1).max(MAX_TODO_CHARS),
  status: s.enum(["pending", "in_progress", "completed"]).optional().describe("Default: pending"),
  priority: s.enum(["high", "medium", "low"]).optional(),
});

/** Makes the tool `todo_write`. It counts as reading: the list is part of the session and of nothing else. */
export function todoWriteTool(): Tool {
  return safeTool({
    name: "todo_write",
    description:
      "Replaces your todo list, for work of several steps: always send the whole list. Have one item in_progress while you work on it, and mark it completed when it is done. An empty list clears it.",
    input: s.object({ todos: s.array(todo).max(MAX_TODOS) }),
    readOnly: true,
    run({ todos }, ctx) {
      const state = stateOf(ctx);
      const problem = todosProblem(todos);
      if (problem !== null) return failedResult(problem);
      const before = state.tasksContext.tasks;
      const tasks = replaceTodos(before, todos);
      if (isSameList(before, tasks)) return `Nothing has changed. ${summary(tasks)}`;
      state.tasksContext = { tasks };
      CallEvents.emit(ctx, { type: "todos_changed", todos: tasks });
      return summary(tasks);
    },
  });
}

function summary(tasks: readonly Task[]): string {
  if (tasks.length === 0) return "The todo list is empty.";
  const done = tasks.filter(({ status }) => status === "completed").length;
  return `Todo list, ${done} of ${tasks.length} completed:\n${showTodos(tasks)}`;
}
