import {
  InMemoryKeyValueStore,
  StateConflictError,
  StateCorruptError,
  StoreUnavailableError,
} from "@holdfast/core";
import { badIds } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { finish, start } from "../../src/tasks/task-life.js";
import { TaskStore } from "../../src/tasks/task-store.js";
import { describeTaskStore } from "./describe-task-store.js";
import { at, slot, task } from "./sample-task.js";

describeTaskStore("memory", async () => new InMemoryKeyValueStore());

/** Store that refuses to read one of its keys, alone or with others. */
class UnreadableValue extends InMemoryKeyValueStore {
  override async get(namespace: readonly string[], key: string) {
    if (key === "bad") throw new StateCorruptError("key bad is no JSON: secret");
    return super.get(namespace, key);
  }
  override async getMany(namespace: readonly string[], keys: readonly string[]) {
    return Promise.all(keys.map((key) => this.get(namespace, key)));
  }
}

test("a value that the store cannot read hides no others", async () => {
  const values = new UnreadableValue();
  const tasks = new TaskStore(values);
  for (const taskId of ["a", "c"]) await tasks.create(slot, task(taskId));
  await values.put(["subagents", "guide", "users", "alice", "s-1", "open"], "bad", task("bad"));
  const { tasks: listed, problems } = await tasks.list(slot);
  expect(listed.map(({ taskId }) => taskId)).toEqual(["a", "c"]);
  expect(problems.map(({ taskId }) => taskId)).toEqual(["bad"]);
  expect(problems[0]?.error.message).toContain('task "bad" of session "s-1"');
  expect(problems[0]?.error.message).not.toContain("secret");
});

describe("a store that fails", () => {
  class Unavailable extends InMemoryKeyValueStore {
    override async getMany(): Promise<never> {
      throw new StoreUnavailableError("there is no connection");
    }
  }

  test("fails a listing, which never looks empty then", async () => {
    const tasks = new TaskStore(new Unavailable());
    await tasks.create(slot, task("a"));
    await expect(tasks.list(slot)).rejects.toSatisfy(StoreUnavailableError.is);
  });

  test("is not asked for ever while other writes come first", async () => {
    let puts = 0;
    class Contended extends InMemoryKeyValueStore {
      override async put(...args: Parameters<InMemoryKeyValueStore["put"]>) {
        if (args[3]?.expected === null) return super.put(...args);
        puts++;
        throw new StateConflictError("another write came first");
      }
    }
    const tasks = new TaskStore(new Contended());
    await tasks.create(slot, task("a"));
    const change = tasks.change(slot, "a", (record) =>
      start(record, { callId: "c-1", attempt: 1 }),
    );
    await expect(change).rejects.toSatisfy(StateConflictError.is);
    expect(puts).toBe(20);
  });

  test("may be asked again when an answer was lost: nothing happens twice", async () => {
    class LostAnswers extends InMemoryKeyValueStore {
      override async put(...args: Parameters<InMemoryKeyValueStore["put"]>): Promise<never> {
        await super.put(...args);
        throw new StoreUnavailableError("the answer was lost");
      }
    }
    const tasks = new TaskStore(new LostAnswers());
    await expect(tasks.create(slot, task("a"))).rejects.toSatisfy(StoreUnavailableError.is);
    expect(await tasks.create(slot, task("a"))).toEqual({ record: task("a"), isNew: false });
    const end = { status: "completed", endedAt: at(1), result: "Done." } as const;
    const edit = (record: Parameters<typeof finish>[0]) => finish(record, end);
    await expect(tasks.change(slot, "a", edit)).rejects.toSatisfy(StoreUnavailableError.is);
    expect(await tasks.change(slot, "a", edit)).toMatchObject({ result: "Done." });
  });
});

test("a task that is deleted while it is created again is created anew", async () => {
  class Deleting extends InMemoryKeyValueStore {
    override async get(namespace: readonly string[], key: string) {
      await this.delete(namespace, key);
      return super.get(namespace, key);
    }
  }
  const tasks = new TaskStore(new Deleting());
  await tasks.create(slot, task("a"));
  expect(await tasks.create(slot, task("a"))).toMatchObject({ isNew: true });
});

test.each(badIds)("a session or task with the id %j is refused", async (id) => {
  const tasks = new TaskStore(new InMemoryKeyValueStore());
  const bad = id as string;
  await expect(tasks.list({ ...slot, sessionId: bad })).rejects.toMatchObject({
    code: "INVALID_ID",
  });
  if (bad.length <= 255)
    await expect(tasks.get(slot, bad)).rejects.toMatchObject({ code: "INVALID_ID" });
});
