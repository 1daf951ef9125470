import {
  InvalidInputError,
  type JsonValue,
  type KeyValueStore,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import { nastyIds } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { finish, MAX_TASK_CHARS, moveToBackground, takeOver } from "../../src/tasks/task-life.js";
import { TaskStore } from "../../src/tasks/task-store.js";
import { at, slot, task } from "./sample-task.js";

const told = ["subagents", "guide", "users", "alice", "s-1", "told"];
const namespace = ["subagents", "guide", "users", "alice", "s-1", "open"];
const other: Slot = { ...slot, sessionId: "s-2" };

/** Tests a {@link TaskStore} on a key-value store; `open` returns one without values. */
export function describeTaskStore(name: string, open: () => Promise<KeyValueStore>): void {
  const stored = async (): Promise<{ values: KeyValueStore; tasks: TaskStore }> => {
    const values = await open();
    return { values, tasks: new TaskStore(values) };
  };

  describe(`tasks in ${name}`, () => {
    test("are read as they were created, and only where they were", async () => {
      const { tasks } = await stored();
      const record = task("a", { label: "first", isRepeatable: true });
      expect(await tasks.get(slot, "a")).toBeNull();
      expect(await tasks.create(slot, record)).toEqual({ record, isNew: true });
      expect(await tasks.get(slot, "a")).toEqual(record);
      expect(await tasks.get(slot, "b")).toBeNull();
      expect(await tasks.get(other, "a")).toBeNull();
    });

    test("are created once: creating one again returns the one that is there", async () => {
      const { tasks } = await stored();
      const wanted = Array.from({ length: 5 }, (_, n) => task("a", { callId: `c-${n}` }));
      const created = await Promise.all(wanted.map((record) => tasks.create(slot, record)));
      expect(created.filter(({ isNew }) => isNew)).toHaveLength(1);
      const kept = await tasks.get(slot, "a");
      expect(created.map(({ record }) => record)).toEqual(wanted.map(() => kept));
      expect(await tasks.create(slot, task("a"))).toEqual({ record: kept, isNew: false });
    });

    test("are listed oldest first, however many there are", async () => {
      const { tasks } = await stored();
      const records = Array.from({ length: 120 }, (_, n) =>
        task(`task-${(n * 7) % 120}`, { startedAt: at(Math.floor(n / 3)) }),
      );
      for (let n = 0; n < records.length; n += 10)
        await Promise.all(records.slice(n, n + 10).map((record) => tasks.create(slot, record)));
      const { tasks: listed, problems } = await tasks.list(slot);
      expect(problems).toEqual([]);
      const wanted = records
        .map(({ startedAt, taskId }) => `${startedAt} ${taskId}`)
        .sort((one, another) => (one < another ? -1 : 1));
      expect(listed.map(({ startedAt, taskId }) => `${startedAt} ${taskId}`)).toEqual(wanted);
      expect(await tasks.list(other)).toEqual({ tasks: [], problems: [] });
    });

    test("lose no change of several nodes at once", async () => {
      const { values, tasks } = await stored();
      await tasks.create(slot, task("a", { isRepeatable: true }));
      const changes = Array.from({ length: 12 }, (_, n) =>
        new TaskStore(values).change(slot, "a", (record) => takeOver(record, record, at(n))),
      );
      const attempts = (await Promise.all(changes)).map((record) => record?.attempt);
      expect(attempts.sort((one = 0, another = 0) => one - another)).toEqual(
        changes.map((_, n) => n + 2),
      );
      expect(await tasks.get(slot, "a")).toMatchObject({ attempt: 13 });
    });

    test("stay as they are when an edit returns null, and none is made by a change", async () => {
      const { values, tasks } = await stored();
      await tasks.create(slot, task("a"));
      const before = await values.get(namespace, "a");
      expect(await tasks.change(slot, "a", () => null)).toEqual(task("a"));
      expect(await values.get(namespace, "a")).toEqual(before);
      const unasked = (): never => {
        throw new Error("there is nothing to edit");
      };
      expect(await tasks.change(slot, "b", unasked)).toBeNull();
      expect(await tasks.change(other, "a", unasked)).toBeNull();
      expect(await tasks.list(other)).toEqual({ tasks: [], problems: [] });
    });

    test("that were reported lost do not become completed, not even by an edit that ignores their life", async () => {
      const { tasks } = await stored();
      await tasks.create(slot, task("a"));
      const lost = await tasks.change(slot, "a", (record) =>
        finish(record, { status: "lost", endedAt: at(1) }),
      );
      expect(lost).toMatchObject({ status: "lost" });
      const end = { status: "completed", endedAt: at(2), result: "Done." } as const;
      expect(await tasks.change(slot, "a", (record) => finish(record, end))).toEqual(lost);
      const forced = tasks.change(slot, "a", (record) => ({ ...record, ...end }));
      await expect(forced).rejects.toSatisfy(InvalidInputError.is);
      expect(await tasks.get(slot, "a")).toEqual(lost);
    });

    test("keep the longest result and error that a task may end with", async () => {
      const { tasks } = await stored();
      await tasks.create(slot, task("a", { task: "\u0001".repeat(MAX_TASK_CHARS) }));
      // JSON writes each of these characters as six.
      const text = "\u0001".repeat(1_000_000);
      const end = { status: "failed", endedAt: at(1), result: text, error: text } as const;
      const ended = await tasks.change(slot, "a", (record) => finish(record, end));
      expect(ended?.result?.length).toBe(100_001);
      expect(await tasks.get(slot, "a")).toEqual(ended);
    });

    test("keep fields of a later release", async () => {
      const { values, tasks } = await stored();
      await values.put(namespace, "a", { ...task("a"), colour: "green" });
      await tasks.change(slot, "a", (record) => finish(record, { status: "lost", endedAt: at(1) }));
      await tasks.archive(slot, "a");
      const { value } = (await values.get(told, "a")) ?? {};
      expect(value).toMatchObject({ status: "lost", colour: "green" });
    });

    test("that are damaged are named without their contents, and hide no others", async () => {
      const { values, tasks } = await stored();
      const damaged: Readonly<Record<string, JsonValue>> = {
        empty: null,
        other: { ...task("x"), task: "secret" },
        strange: { ...task("strange"), status: "secret" },
        newer: { ...task("newer"), v: 2, task: "secret" },
      };
      await tasks.create(slot, task("good"));
      for (const [taskId, value] of Object.entries(damaged))
        await values.put(namespace, taskId, value);
      const { tasks: listed, problems } = await tasks.list(slot);
      expect(listed).toEqual([task("good")]);
      expect(problems.map(({ taskId }) => taskId)).toEqual(Object.keys(damaged).sort());
      for (const taskId of Object.keys(damaged)) {
        const errors = [
          await tasks.get(slot, taskId).catch((error: unknown) => error),
          await tasks.create(slot, task(taskId)).catch((error: unknown) => error),
          await tasks.change(slot, taskId, moveToBackground).catch((error: unknown) => error),
          problems.find((problem) => problem.taskId === taskId)?.error,
        ];
        for (const error of errors) {
          expect(error).toSatisfy(StateCorruptError.is);
          expect(String(error)).toContain(`task "${taskId}" of session "s-1" of user "alice"`);
          expect(String(error)).not.toContain("secret");
        }
      }
      await tasks.deleteAll(slot);
      expect((await values.list(namespace)).keys).toEqual([]);
    });

    test("are deleted, all of a session and of no other", async () => {
      const { values, tasks } = await stored();
      for (let n = 0; n < 60; n++) await tasks.create(slot, task(`task-${n}`));
      await tasks.create(other, task("task-1"));
      await tasks.change(slot, "task-2", (record) =>
        finish(record, { status: "lost", endedAt: at(1) }),
      );
      await tasks.archive(slot, "task-2");
      await tasks.deleteAll(slot);
      expect((await values.list(namespace)).keys).toEqual([]);
      expect((await values.list(told)).keys).toEqual([]);
      expect((await tasks.list(other)).tasks).toEqual([task("task-1")]);
    });

    test("that are over can be put away: they are open no more, and are read, listed and kept as before", async () => {
      const { values, tasks } = await stored();
      await tasks.create(slot, task("running"));
      await tasks.create(slot, task("over", { startedAt: at(-1) }));
      const over = await tasks.change(slot, "over", (record) =>
        finish(record, { status: "completed", endedAt: at(1), result: "Done." }),
      );
      for (const taskId of ["running", "over", "over", "none"]) await tasks.archive(slot, taskId);
      expect((await tasks.listOpen(slot)).tasks).toEqual([task("running")]);
      expect((await tasks.list(slot)).tasks).toEqual([over, task("running")]);
      expect(await tasks.get(slot, "over")).toEqual(over);
      expect(await tasks.create(slot, task("over"))).toEqual({ record: over, isNew: false });
      const unasked = (): never => {
        throw new Error("there is nothing to edit");
      };
      expect(await tasks.change(slot, "over", unasked)).toEqual(over);
      // A process that died between the two writes leaves both.
      await values.put(namespace, "over", over as JsonValue);
      expect((await tasks.list(slot)).tasks).toEqual([over, task("running")]);
      await tasks.archive(slot, "over");
      expect((await tasks.listOpen(slot)).tasks).toEqual([task("running")]);
    });

    test("of one session reach no other, whatever the ids are", async () => {
      const { tasks } = await stored();
      const ids = nastyIds.filter((id) => id.length <= 255).slice(0, 40);
      const slots: Slot[] = [
        ...ids.map((id) => ({ agentId: "guide", userId: id, sessionId: "s" })),
        ...ids.map((id) => ({ agentId: "guide", userId: null, sessionId: id })),
        { agentId: "guide", userId: "s", sessionId: "a" },
        { agentId: "guide", userId: null, sessionId: "users" },
        { agentId: "guide", userId: "anonymous", sessionId: "a" },
        { agentId: "anonymous", userId: null, sessionId: "anonymous" },
        { agentId: "users", userId: "users", sessionId: "users" },
      ];
      for (const [n, one] of slots.entries())
        await tasks.create(one, task("same", { callId: `c-${n}` }));
      for (const [n, one] of slots.entries())
        expect((await tasks.list(one)).tasks).toEqual([task("same", { callId: `c-${n}` })]);
    });
  });
}
