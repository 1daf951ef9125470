import type { AgentState, Slot } from "@holdfast/core";
import { cutText } from "@holdfast/core/plugin-kit";
import { exitRefusal, type IsUnattended } from "./plan-guard.js";
import type { PlanKeeper } from "./plan-keeper.js";
import { openTodos, showTodos } from "./todo-list.js";

/** Characters of a plan without a file that a request shows: the model has no other way to read it. */
const PLAN_CHARS = 8_000;

/** Returns what the model is told in plan mode; null when it is off. */
export async function planReminder(
  keeper: PlanKeeper,
  slot: Slot,
  state: AgentState,
  isUnattended: IsUnattended,
): Promise<string | null> {
  const { active, planFile } = state.planModeContext;
  if (!active) return null;
  const path = keeper.path(slot);
  const kept = path === null ? await keeper.read(slot, state) : null;
  const isWritten = kept !== null || (path !== null && planFile === path);
  return [
    "Plan mode is on: look around and plan, and change nothing. Tools that only read run, plan_write, todo_write and those of subagents among them; every other call is refused.",
    isWritten
      ? `Your plan is ${path === null ? "below" : `in ${path}`}; plan_write replaces it.`
      : "You have not written a plan yet; write it with plan_write.",
    exitRefusal(state, isUnattended) ?? "When it is ready, call plan_exit: the user then decides.",
    ...(kept === null ? [] : [`\n${cutText(kept, PLAN_CHARS)}`]),
  ].join("\n");
}

/** Returns what the model is told about its todo list; null when nothing in it is open. */
export function todoReminder({ tasksContext, planModeContext }: AgentState): string | null {
  const open = openTodos(tasksContext.tasks);
  if (open.length === 0) return null;
  const { active, planFile } = planModeContext;
  return [
    "Open items of your todo list; todo_write keeps it up to date. They are a reminder, not a request.",
    ...(active || planFile === null ? [] : [`The plan they follow is in ${planFile}.`]),
    showTodos(open),
  ].join("\n");
}
