import {
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type KeyValueStore, StateCorruptError } from "@holdfast/core";
import { FileKeyValueStore, type StoreReport } from "@holdfast/store-json";
import { describeKeyValueStore } from "@holdfast/testing";
import { expect, test } from "vitest";
import { temporaryRoot } from "./temporary-root.js";

describeKeyValueStore("FileKeyValueStore", {
  create: () => new FileKeyValueStore({ root: temporaryRoot() }),
  reopen: (store) => new FileKeyValueStore({ root: rootOf(store) }),
  breakBackend(store) {
    renameSync(rootOf(store), `${rootOf(store)}.gone`);
    writeFileSync(rootOf(store), "");
  },
});

function rootOf(store: KeyValueStore): string {
  return (store as FileKeyValueStore).root;
}

const namespace = ["memory", "Ada"];

test("a value is below ns-<part>/…/key-<key>, for its owner only", async () => {
  const root = join(temporaryRoot(), "values");
  const store = new FileKeyValueStore({ root });
  await store.put(namespace, "notes", { text: "hello" });
  expect(readdirSync(root, { recursive: true, encoding: "utf8" }).sort()).toEqual([
    "ns-memory",
    "ns-memory/ns-%41da",
    "ns-memory/ns-%41da/key-notes",
    "ns-memory/ns-%41da/key-notes/journal.1.jsonl",
  ]);
  for (const path of [".", ...readdirSync(root, { recursive: true, encoding: "utf8" })]) {
    const stats = statSync(join(root, path));
    expect(stats.mode & 0o777, path).toBe(stats.isDirectory() ? 0o700 : 0o600);
  }
});

test("a damaged value fails to load as corrupt, and is passed over and reported by a listing", async () => {
  const root = temporaryRoot();
  const reports: StoreReport[] = [];
  const store = new FileKeyValueStore({ root, onReport: (report) => reports.push(report) });
  await store.put(namespace, "good", 1);
  await store.put(namespace, "bad", "x".repeat(200_000));
  await store.put(namespace, "bad", 2);
  const directory = join(root, "ns-memory", "ns-%41da", "key-bad");
  const [snapshot = ""] = readdirSync(directory);
  writeFileSync(join(directory, snapshot), `x${readFileSync(join(directory, snapshot), "utf8")}`);
  await expect(store.get(namespace, "bad")).rejects.toSatisfy(StateCorruptError.is);
  expect(await store.list(namespace)).toEqual({ keys: ["good"] });
  expect(reports.map(({ kind }) => kind)).toEqual(["entry_skipped"]);
});

test("a value written over and over keeps its directory small", async () => {
  const root = temporaryRoot();
  const store = new FileKeyValueStore({ root, durability: "os" });
  for (let count = 0; count < 300; count++)
    await store.put(namespace, "counter", { count, filler: "x".repeat(1_000) });
  const directory = join(root, "ns-memory", "ns-%41da", "key-counter");
  const bytes = readdirSync(directory).reduce(
    (sum, name) => sum + statSync(join(directory, name)).size,
    0,
  );
  expect(bytes).toBeLessThan(80_000);
  expect((await store.get(namespace, "counter"))?.value).toMatchObject({ count: 299 });
});

test("what is left of a key deleted more than a day ago goes with a listing", async () => {
  const root = temporaryRoot();
  const store = new FileKeyValueStore({ root });
  await store.put(namespace, "old", 1);
  await store.delete(namespace, "old");
  const directory = join(root, "ns-memory", "ns-%41da");
  expect(readdirSync(directory)).toEqual(["key-old"]);
  const longAgo = Date.now() / 1_000 - 200_000;
  for (const name of readdirSync(join(directory, "key-old")))
    utimesSync(join(directory, "key-old", name), longAgo, longAgo);
  expect(await store.list(namespace)).toEqual({ keys: [] });
  expect(readdirSync(directory)).toEqual([]);
  await store.put(namespace, "old", 2, { expected: null });
  expect((await store.get(namespace, "old"))?.value).toBe(2);
});
