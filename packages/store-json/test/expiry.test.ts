import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { userMessage } from "@holdfast/core";
import { type LogDraft, uuidv7 } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { eventually, spawnScript } from "@holdfast/testing";
import { afterEach, expect, test } from "vitest";
import { ExpiredSessions } from "../src/expiry/expired-sessions.js";
import { SessionLife } from "../src/expiry/session-life.js";
import { append, sessionDirectory, slot } from "./session.js";
import { temporaryRoot } from "./temporary-root.js";

const ttlMs = 3_600_000;
const opened: JsonFileAgentStateStore[] = [];

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

function open(root: string, options: { ttlMs?: number } = { ttlMs }): JsonFileAgentStateStore {
  const store = new JsonFileAgentStateStore({ root, ...options });
  opened.push(store);
  return store;
}

/** The sweep of a process, whenever a test wants it. */
function sweeper(store: JsonFileAgentStateStore): () => Promise<void> {
  const { root } = store;
  const { log } = store.companions();
  const removeState = async (owner: typeof slot) => void (await store.delete(owner));
  const life = new SessionLife({ root, ttlMs, removeState, log });
  const expired = new ExpiredSessions(root, life);
  return async () => {
    while (await expired.sweep());
  };
}

/** Makes every file below a directory two hours older. */
function age(directory: string): void {
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const seconds = statSync(path).mtimeMs / 1_000 - 7_200;
    utimesSync(path, seconds, seconds);
  }
}

/** Names of all files below a directory, without those of the gate, whose numbers go on. */
function filesBelow(root: string): string[] {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("@gates"))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function record(text: string): LogDraft {
  const at = new Date().toISOString();
  return { v: 1, id: uuidv7(), callId: "c", at, kind: "message", message: userMessage(text) };
}

async function fill(store: JsonFileAgentStateStore): Promise<void> {
  await append(store, ["one"]);
  await store.companions().log.append(slot, [record("x".repeat(200_000)), record("short")]);
  const at = new Date().toISOString();
  await store.inbox.put(slot, { id: "e", kind: "input", callId: "c", at, body: {} });
}

test("processes that sweep at once leave nothing of an expired session but the mark of its delete", async () => {
  const root = temporaryRoot();
  const store = open(root);
  await fill(store);
  age(root);
  expect(await store.load(slot)).toBeNull();
  expect((await store.list()).slots).toEqual([]);
  await Promise.all([sweeper(store)(), sweeper(open(root))()]);
  await sweeper(store)();
  expect(filesBelow(root)).toEqual(["agent/user-user/session/state.2.json"]);
  await append(store, ["new"]);
  expect((await store.load(slot)) as object).toMatchObject({ messages: { length: 1 } });
});

test("a session from before there was a ttlMs expires as well, and one just saved by such a store does not", async () => {
  const root = temporaryRoot();
  const plain = open(root, {});
  const other = { ...slot, sessionId: "fresh" };
  await fill(plain);
  expect(existsSync(join(root, "@uses"))).toBe(false);
  age(root);
  await plain.save(other, { op: "1", expected: null, head: {}, keep: 0, replace: [], append: [] });
  await sweeper(open(root))();
  expect((await plain.list()).slots.map((info) => info.slot.sessionId)).toEqual(["fresh"]);
  expect(await plain.companions().log.read(slot)).toEqual([]);
});

test("a call of another process keeps its session, until it ends and for ttlMs after", async () => {
  const root = temporaryRoot();
  const store = open(root);
  await fill(store);
  const holder = spawnScript(new URL("./children/lease-holder.mjs", import.meta.url), [root]);
  await holder.line("holding");
  age(root);
  await sweeper(store)();
  expect(await store.load(slot)).not.toBeNull();
  expect((await store.list()).slots).toHaveLength(1);
  age(join(root, "@uses"));
  age(sessionDirectory(root));
  age(join(root, "@log"));
  holder.send("release");
  await holder.line("released");
  await sweeper(store)();
  expect(await store.load(slot)).not.toBeNull();
  age(root);
  await sweeper(store)();
  expect(await store.load(slot)).toBeNull();
  await holder.kill9();
});

test("what a process killed while it removed a session has left is removed by the next", async () => {
  const root = temporaryRoot();
  const store = open(root);
  await fill(store);
  await store.delete(slot);
  age(root);
  await sweeper(store)();
  expect(filesBelow(root)).toEqual(["agent/user-user/session/state.2.json"]);
});

test("without a clock of a test the time is that of the file system", async () => {
  const root = temporaryRoot();
  const store = open(root, { ttlMs: 1_000 });
  await fill(store);
  await eventually(() => !existsSync(join(root, "@uses", "agent", "user-user", "session")));
  expect(await store.load(slot)).toBeNull();
});
