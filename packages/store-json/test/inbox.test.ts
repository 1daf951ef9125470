import { cpSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StateTooNewError } from "@holdfast/core";
import type { InboxEntry } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore, type StoreReport } from "@holdfast/store-json";
import { scaled, spawnScript } from "@holdfast/testing";
import { beforeAll, expect, test } from "vitest";
import { encodeLine } from "../src/document/record-line.js";
import { inParallel } from "../src/io/in-parallel.js";
import { runScript } from "./run-script.js";
import { append, sessionDirectory, sessionFiles, slot } from "./session.js";
import { countCalls, failing, killingAt, needStrace, spread } from "./strace.js";
import { temporaryRoot } from "./temporary-root.js";

beforeAll(needStrace, 300_000);

const putter = new URL("./children/putter.mjs", import.meta.url);
const DAY_MS = 86_400_000;

function entryOf(id: string, kind: InboxEntry["kind"] = "input"): InboxEntry {
  return { id, kind, callId: "call", at: "2026-01-01T00:00:00.000Z", body: { text: id } };
}

async function idsIn(root: string): Promise<string[]> {
  const reports: StoreReport[] = [];
  const store = new JsonFileAgentStateStore({ root, onReport: (report) => reports.push(report) });
  const ids = (await store.inbox.read(slot)).map(({ id }) => id);
  expect(reports).toEqual([]);
  return ids;
}

test("an entry is a readable file of its owner's beside the state, and gone when it is removed", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["hello"]);
  await store.inbox.put(slot, entryOf("a/b *"));
  const [name = "", ...others] = sessionFiles(root);
  expect(others).toEqual(["journal.1.jsonl"]);
  expect(name).toMatch(/^inbox\.1\.input\.\d+\.[0-9a-f]{32}\.json$/);
  const file = join(sessionDirectory(root), name);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ entry: entryOf("a/b *") });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await store.inbox.remove(slot, ["a/b *"]);
  expect(sessionFiles(root)).toEqual(["journal.1.jsonl"]);
});

test("an inbox of a session without a state leaves no directory behind", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  expect(await store.inbox.read(slot)).toEqual([]);
  await store.inbox.remove(slot, ["none"]);
  expect(readdirSync(root)).toEqual([]);
  for (const id of ["one", "two"]) await store.inbox.put(slot, entryOf(id));
  expect((await store.list()).slots).toEqual([]);
  await store.inbox.remove(slot, ["one"]);
  await append(store, ["saved meanwhile"]);
  await store.delete(slot);
  expect(sessionFiles(root)).toEqual(["state.2.json"]);
  const other = { ...slot, sessionId: "other" };
  await store.inbox.put(other, entryOf("one"));
  await store.inbox.remove(other, ["one"]);
  expect(readdirSync(join(root, "agent", "user-user"))).toEqual(["session"]);
});

test("a damaged entry is set aside and reported once; the others are read", async () => {
  const root = temporaryRoot();
  const reports: StoreReport[] = [];
  const store = new JsonFileAgentStateStore({ root, onReport: (report) => reports.push(report) });
  await append(store, ["hello"]);
  for (const id of ["one", "two", "three"]) await store.inbox.put(slot, entryOf(id));
  const [first = "", second = ""] = sessionFiles(root);
  const bytes = readFileSync(join(sessionDirectory(root), first));
  bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
  writeFileSync(join(sessionDirectory(root), first), bytes);
  writeFileSync(join(sessionDirectory(root), second), "");
  for (let read = 0; read < 2; read++)
    expect((await store.inbox.read(slot)).map(({ id }) => id)).toEqual(["three"]);
  expect(reports.map(({ kind }) => kind)).toEqual(["entry_skipped", "entry_skipped"]);
  expect(sessionFiles(root)).toContain(`damaged.${first}`);
  await store.inbox.remove(slot, ["three"]);
  expect((await store.list({ unfinished: true })).slots).toEqual([]);
  await store.delete(slot);
  expect(sessionFiles(root)).toEqual(["state.2.json"]);
});

test("an entry under another session's name is not its entry", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await store.inbox.put(slot, entryOf("mine"));
  cpSync(sessionDirectory(root), join(root, "agent", "user-user", "other"), { recursive: true });
  expect(await store.inbox.read({ ...slot, sessionId: "other" })).toEqual([]);
  expect(await idsIn(root)).toEqual(["mine"]);
});

test("an entry of a newer release is refused as such, and not touched", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await store.inbox.put(slot, entryOf("one"));
  const [name = ""] = sessionFiles(root);
  const file = join(sessionDirectory(root), name);
  const before = readFileSync(file);
  writeFileSync(file, encodeLine('"v":2,"entry":"in another form"'));
  await expect(store.inbox.read(slot)).rejects.toSatisfy(StateTooNewError.is);
  writeFileSync(file, before);
  expect(await idsIn(root)).toEqual(["one"]);
});

test("what was said to a deleted session stays, however old its tombstone is", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["hello"]);
  await store.delete(slot);
  await store.inbox.put(slot, entryOf("still there?", "interrupt"));
  const old = new Date(Date.now() - 2 * DAY_MS);
  utimesSync(join(sessionDirectory(root), "state.2.json"), old, old);
  expect((await store.list()).slots).toEqual([]);
  expect(await idsIn(root)).toEqual(["still there?"]);
  await store.inbox.remove(slot, ["still there?"]);
  await store.list();
  expect(readdirSync(join(root, "agent", "user-user"))).toEqual([]);
});

test("two processes that put entries at once lose none, keep the order of each, and share one", async () => {
  const root = temporaryRoot();
  const count = 45;
  const names = ["left", "right"];
  const children = names.map((name) => spawnScript(putter, [root, name, String(count)]));
  for (const child of children) await child.line("end", 300_000);
  await Promise.all(children.map((child) => child.exited));
  const ids = await idsIn(root);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  for (const name of names)
    expect(ids.filter((id) => id.startsWith(name))).toEqual(
      numbers.filter((number) => number % 3 !== 0).map((number) => `${name} ${number}`),
    );
  expect(ids.filter((id) => id === "shared")).toHaveLength(1);
});

test("stopped at any system call, an inbox holds every entry acknowledged, and whole ones only", async () => {
  const run = (root: string, wrapper: readonly string[]) =>
    runScript(putter, [root, "it", "9", "5000"], { wrapper });
  const points = ["write", "fsync", "link", "unlink", "mkdir"];
  const counts = await countCalls(points, async (wrapper) => {
    expect((await run(temporaryRoot(), wrapper)).lines).toContain("end");
  });
  const stops = points.flatMap((name) => {
    const last = counts.get(name) ?? 0;
    expect(last, `the scenario makes ${name} calls`).toBeGreaterThan(0);
    return spread(last, scaled(2, last)).map((at) => ({ name, at }));
  });
  const killed = await inParallel(stops, 2, async ({ name, at }) => {
    const root = temporaryRoot();
    const { lines } = await run(root, killingAt(name, at));
    const ids = await idsIn(root);
    const said = (word: string) =>
      lines.filter((line) => line.startsWith(`${word} `)).map((line) => `it ${line.split(" ")[1]}`);
    const removing = new Set(said("removing"));
    const removed = new Set(said("removed"));
    for (const id of said("ack")) if (!removing.has(id)) expect(ids).toContain(id);
    for (const id of ids) {
      expect(removed.has(id)).toBe(false);
      expect(["shared", ...said("intent")]).toContain(id);
    }
    const store = new JsonFileAgentStateStore({ root });
    await store.inbox.put(slot, entryOf("after"));
    expect((await idsIn(root)).at(-1)).toBe("after");
    await store.delete(slot);
    expect(await idsIn(root)).toEqual([]);
    return !lines.includes("end");
  });
  expect(killed.filter(Boolean).length).toBeGreaterThan(stops.length * 0.7);
});

test("an entry whose name could not be synced is written again by the repeated put", async () => {
  const root = temporaryRoot();
  // Per put: one sync of the file, four of the directories above it and its own. The first put made them: four more.
  const wrapper = failing(["fsync", "EIO", "20"]);
  const { lines } = await runScript(putter, [root, "it", "5"], { wrapper });
  expect(lines).toContain("failed UNKNOWN_OUTCOME");
  expect(lines).toContain("end");
  expect(await idsIn(root)).toEqual(["shared", "it 1", "it 2", "it 4", "it 5"]);
});
