import { describe, expect, test } from "vitest";
import {
  finish,
  hold,
  isFinished,
  mayBecome,
  mayReplace,
  moveToBackground,
  resume,
  start,
  takeOver,
} from "../../src/tasks/task-life.js";
import type { TaskRecord, TaskStatus } from "../../src/tasks/task-record.js";
import { at, task } from "./sample-task.js";

const statuses: readonly TaskStatus[] = [
  ...["running", "waiting", "paused", "completed", "failed", "cancelled", "lost"],
] as TaskStatus[];
const finals = ["completed", "failed", "cancelled", "lost"] as const;

/** Run of a task as {@link task} makes it, and one that takes it over. */
const run = { callId: "c-1", attempt: 1 };
const later = { callId: "c-1", attempt: 2 };

/** Task that has come to a status. */
function taskThatIs(status: TaskStatus): TaskRecord {
  const running = task("a", { isRepeatable: true });
  if (status === "running") return running;
  const next =
    status === "waiting" || status === "paused"
      ? hold(running, status, run)
      : finish(running, { status, endedAt: at(1) });
  if (next === null) throw new Error(`a running task cannot be ${status}`);
  return next;
}

test.each([
  ["running", ["waiting", "paused", "completed", "failed", "cancelled", "lost"]],
  ["waiting", ["running", "cancelled", "lost"]],
  ["paused", ["running", "cancelled", "lost"]],
  ["completed", []],
  ["failed", []],
  ["cancelled", []],
  ["lost", []],
] as const)("a task that is %s can only become %j", (before, after) => {
  expect(statuses.filter((status) => mayBecome(before, status))).toEqual(after);
  expect(isFinished(before)).toBe(after.length === 0);
});

test.each(statuses)("a task that is %s ends only where its status allows", (status) => {
  const before = taskThatIs(status);
  for (const final of finals) {
    const after = finish(before, { status: final, endedAt: at(2) });
    expect(after?.status ?? null).toBe(mayBecome(status, final) ? final : null);
  }
});

describe("a task that ends", () => {
  test("holds its result, its end and what was used", () => {
    const usage = { inputTokens: 10, outputTokens: 2 };
    const end = { status: "completed", endedAt: at(2), result: "Done.", usage } as const;
    expect(finish(task("a"), end)).toEqual({
      ...task("a"),
      status: "completed",
      endedAt: at(2),
      result: "Done.",
      usage,
    });
  });

  test("is not ended by a run that another has replaced", () => {
    const seen = task("a");
    const again = takeOver(seen, seen, at(1)) ?? seen;
    const end = { status: "completed", endedAt: at(2) } as const;
    expect(finish(again, { ...end, run })).toBeNull();
    expect(finish(again, { ...end, run: later })?.status).toBe("completed");
    expect(finish(again, { ...end, status: "cancelled" })?.status).toBe("cancelled");
  });
});

test("long texts are cut, and no character in two", () => {
  const error = `${"e".repeat(3_999)}😀 and more`;
  const ended = finish(task("a"), { status: "failed", endedAt: at(1), error });
  expect(ended?.error).toBe(`${"e".repeat(3_999)}…`);
});

test("only the call that works on a task starts and holds it, and it starts once", () => {
  const started = start(task("a"), run);
  expect(started).toEqual({ ...task("a"), isStarted: true });
  expect(start(task("a"), later)).toBeNull();
  expect(start(task("a"), { ...run, callId: "c-2" })).toBeNull();
  expect(hold(task("a"), "waiting", later)).toBeNull();
  for (const status of statuses.slice(1)) {
    expect(hold(taskThatIs(status), "paused", run)).toBeNull();
    expect(start(taskThatIs(status), run)).toBeNull();
  }
});

test("a task that waits goes on in another call, and no other task does", () => {
  for (const status of statuses) {
    const before = { ...taskThatIs(status), isStarted: true };
    expect(resume(before, "c-2")).toEqual(
      status === "waiting"
        ? { ...before, status: "running", callId: "c-2", isStarted: false }
        : null,
    );
  }
});

test("a task that is not over is taken over, once for each time that it was found without a process", () => {
  const seen = { ...task("a"), isStarted: true };
  const again = takeOver(seen, seen, at(5));
  expect(again).toEqual({ ...seen, attempt: 2, startedAt: at(5), isStarted: false });
  expect(takeOver(again ?? seen, seen, at(6))).toBeNull();
  expect(takeOver({ ...seen, callId: "c-2" }, seen, at(6))).toBeNull();
  expect(takeOver(taskThatIs("waiting"), seen, at(6))).toBeNull();
  for (const status of statuses)
    expect(takeOver(taskThatIs(status), taskThatIs(status), at(6))?.status ?? null).toBe(
      isFinished(status) ? null : "running",
    );
});

test("a task moves to the background once, while it is not over", () => {
  for (const status of statuses) {
    const before = taskThatIs(status);
    const after = moveToBackground(before);
    expect(after).toEqual(isFinished(status) ? null : { ...before, isBackground: true });
    if (after) expect(moveToBackground(after)).toBeNull();
  }
});

describe("a record", () => {
  const ended = taskThatIs("completed");

  test("of a task that is over stays as it is", () => {
    expect(mayReplace(ended, { ...ended })).toBe(true);
    expect(mayReplace(ended, { ...ended, result: "Other." })).toBe(false);
    expect(mayReplace(ended, { ...ended, status: "failed" })).toBe(false);
  });

  test("has an end exactly when its task is over", () => {
    expect(mayReplace(task("a"), { ...ended, endedAt: null })).toBe(false);
    expect(mayReplace(task("a"), { ...task("a"), endedAt: at(1) })).toBe(false);
  });

  test("is not replaced by that of another task, nor by one with a status that cannot follow", () => {
    expect(mayReplace(task("a"), task("b"))).toBe(false);
    expect(mayReplace(taskThatIs("waiting"), taskThatIs("paused"))).toBe(false);
    expect(mayReplace(taskThatIs("waiting"), ended)).toBe(false);
    expect(mayReplace(taskThatIs("waiting"), taskThatIs("running"))).toBe(true);
  });
});
