import { InMemoryKeyValueStore } from "@holdfast/core";
import { withEncryption } from "@holdfast/encryption";
import { FileKeyValueStore } from "@holdfast/store-json";
import { scaled, tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { TaskStore } from "../../packages/subagents/src/tasks/task-store.js";
import { describeTaskStore } from "../../packages/subagents/test/tasks/describe-task-store.js";
import { slot, task } from "../../packages/subagents/test/tasks/sample-task.js";
import { freshOptions } from "../encryption/keys.js";
import { fleetStores, freshChoice } from "../fleet/choices.js";
import { openStore } from "../fleet/open-store.mjs";

describeTaskStore("files", async () => {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  return new FileKeyValueStore({ root: directory.path, durability: "os" });
});

for (const kind of scaled(["redis"], fleetStores))
  describeTaskStore(kind, async () => {
    const { store, close } = openStore(freshChoice(kind));
    onTestFinished(close);
    return store.keyValue;
  });

describeTaskStore("encrypted values", async () => encrypted(new InMemoryKeyValueStore()));

test("an encrypted task that was moved hides no others", async () => {
  const inner = new InMemoryKeyValueStore();
  const tasks = new TaskStore(encrypted(inner));
  for (const taskId of ["a", "b", "c"]) await tasks.create(slot, task(taskId));
  const namespace = ["subagents", "guide", "users", "alice", "s-1", "open"];
  const { value } = (await inner.get(namespace, "a")) ?? {};
  await inner.put(namespace, "b", value ?? null);
  const { tasks: listed, problems } = await tasks.list(slot);
  expect(listed.map(({ taskId }) => taskId)).toEqual(["a", "c"]);
  expect(problems.map(({ taskId }) => taskId)).toEqual(["b"]);
});

function encrypted(keyValue: InMemoryKeyValueStore) {
  return withEncryption({ keyValue }, freshOptions()).keyValue;
}
