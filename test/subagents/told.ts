import { type AgentState, textOf } from "@holdfast/core";
import type { TaskRecord } from "@holdfast/subagents";
import { expect } from "vitest";

/** One time that a model was told how a task ended, as its saved reply says. */
export interface Told {
  readonly taskId: string;
  readonly status: string;
  readonly result: string;
}

/** Returns what the replies of a saved session say that their model was told. */
export function toldIn(state: AgentState | null): readonly Told[] {
  const texts = (state?.context ?? [])
    .filter(({ role }) => role === "assistant")
    .map((message) => textOf(message));
  return texts
    .flatMap((text) => [...text.matchAll(/\[told (task_\w+) (\w+) ([^\]]*)\]/g)])
    .map(([, taskId = "", status = "", result = ""]) => ({ taskId, status, result }));
}

/** Checks that the end of each task was told once, as its record has it, and that nothing else was. */
export function expectToldOnce(told: readonly Told[], tasks: readonly TaskRecord[]): void {
  const byId = (one: Told, other: Told) => (one.taskId < other.taskId ? -1 : 1);
  const ends = tasks.map(({ taskId, status, result }) => ({
    ...{ taskId, status, result: result ?? "-" },
  }));
  expect(told.toSorted(byId)).toEqual(ends.toSorted(byId));
}
