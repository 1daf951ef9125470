import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { ConfigurationError, StateTooLargeError, userMessage } from "@holdfast/core";
import { JsonFileAgentStateStore, type StoreReport } from "@holdfast/store-json";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  append,
  change,
  loadSession,
  rotate,
  sessionDirectory,
  sessionFiles,
  slot,
} from "./session.js";
import { temporaryRoot } from "./temporary-root.js";

afterEach(() => vi.unstubAllEnvs());

const DAY_MS = 86_400_000;

describe("where things are", () => {
  test("a session is below <root>/<agent>/<user>/<session>, readable as JSON", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    await append(store, ["hello"], { mood: "fine" });
    expect(readdirSync(root)).toEqual(["agent"]);
    expect(readdirSync(join(root, "agent"))).toEqual(["user-user"]);
    expect(sessionFiles(root)).toEqual(["journal.1.jsonl"]);
    const record = JSON.parse(
      readFileSync(join(sessionDirectory(root), "journal.1.jsonl"), "utf8"),
    );
    expect(record).toMatchObject({ ids: ["agent", "user", "session"], set: { mood: "fine" } });
    await rotate(store);
    expect(sessionFiles(root)).toEqual(["state.2.json"]);
    const snapshot = JSON.parse(readFileSync(join(sessionDirectory(root), "state.2.json"), "utf8"));
    expect(snapshot).toMatchObject({ ids: ["agent", "user", "session"], head: { mood: "fine" } });
    expect(snapshot.messages).toHaveLength(1);
  });

  test("the anonymous user is apart from a user of that name", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    await store.save({ ...slot, userId: null }, change(null));
    await store.save({ ...slot, userId: "anonymous" }, change(null));
    expect(readdirSync(join(root, "agent")).sort()).toEqual(["anonymous", "user-anonymous"]);
  });

  test("only the owner may read: directories are 0700, files 0600", async () => {
    const root = join(temporaryRoot(), "new");
    const store = new JsonFileAgentStateStore({ root });
    await append(store, ["hello"]);
    await rotate(store);
    await append(store, ["again"]);
    const paths = readdirSync(root, { recursive: true, encoding: "utf8" });
    expect(paths).toHaveLength(5);
    for (const path of [".", ...paths]) {
      const stats = statSync(join(root, path));
      expect(stats.mode & 0o777, path).toBe(stats.isDirectory() ? 0o700 : 0o600);
    }
  });

  test("without a root, HOLDFAST_STATE_HOME or ~/.holdfast/state is used, and nothing is made by constructing", () => {
    vi.stubEnv("HOLDFAST_STATE_HOME", "");
    expect(new JsonFileAgentStateStore().root).toBe(join(homedir(), ".holdfast", "state"));
    const home = join(temporaryRoot(), "home");
    vi.stubEnv("HOLDFAST_STATE_HOME", home);
    expect(new JsonFileAgentStateStore().root).toBe(home);
    expect(new JsonFileAgentStateStore({ root: "relative" }).root).toBe(resolve("relative"));
    expect(existsSync(home)).toBe(false);
  });

  test("a wrong option is refused by name, all at once", () => {
    const wrong = { root: "", durability: "maybe", onReport: 1, colour: "red" };
    // @ts-expect-error: this is what a caller without types could pass
    const construct = () => new JsonFileAgentStateStore(wrong);
    expect(construct).toThrow(ConfigurationError);
    for (const name of ["root", "durability", "onReport", '"colour"'])
      expect(construct).toThrow(new RegExp(`option ${name}`));
  });
});

test("the companions are the same every time, work side by side and stay out of the listing", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  const parts = store.companions();
  expect(store.companions()).toBe(parts);
  expect(parts.stateStore).toBe(store);
  expect(Object.values(parts).map(({ kind, reach }) => `${kind} ${reach}`)).toEqual(
    Array.from({ length: 6 }, () => "json host"),
  );
  await append(store, ["one"]);
  const lease = await parts.gate.acquire(slot, { callId: "call" });
  await parts.log.append(slot, [
    { v: 1, id: "1", callId: "call", at: "now", kind: "mark", mark: { name: "call_end" } },
  ]);
  await parts.keyValue.put(["notes"], "first", { text: "hello" });
  const subscription = await parts.signals.listen(slot, "call", () => {});
  expect(readdirSync(root).sort()).toEqual(["@gates", "@log", "@signals", "@values", "agent"]);
  expect((await store.list()).slots.map((info) => info.slot)).toEqual([slot]);
  await subscription.close();
  await lease.release();
  await store.close();
});

test("a process whose clock is ahead leaves the temporary files of others alone", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one"]);
  const [live, dead] = ["tmp.1.0123456789abcdef", "tmp.4194399.0123456789abcdef"];
  for (const name of [live, dead]) writeFileSync(join(sessionDirectory(root), name), "");
  const twoHoursAgo = new Date(Date.now() - 7_200_000);
  utimesSync(join(sessionDirectory(root), dead), twoHoursAgo, twoHoursAgo);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 7_200_000 });
  try {
    await rotate(store);
  } finally {
    vi.useRealTimers();
  }
  expect(sessionFiles(root)).toEqual(["state.2.json", live]);
});

describe("sizes", () => {
  test("a head over 1 MB, an info over 64 KB or a message over 16 MB is refused before anything is written", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    const head = { large: "x".repeat(1_048_576) };
    const large = [userMessage("x".repeat(16 * 1_024 * 1_024))];
    const info = { title: "x".repeat(65_536) };
    const callRecord = { record: { callId: "c", large: "x".repeat(16 * 1_024 * 1_024) }, keep: 1 };
    for (const write of [
      change(null, head),
      { ...change(null), append: large },
      { ...change(null), info },
      { ...change(null), callRecord },
    ])
      await expect(store.save(slot, write)).rejects.toSatisfy(StateTooLargeError.is);
    expect(readdirSync(root)).toEqual([]);
    await store.save(slot, change(null, { large: "x".repeat(1_048_576 - 10) }));
  });

  test("only the fields of the head that changed are written", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    const large = "x".repeat(50_000);
    await append(store, [], { large, turn: 1, gone: true });
    const journal = join(sessionDirectory(root), "journal.1.jsonl");
    const before = statSync(journal).size;
    await append(store, [], { large, turn: 2 });
    expect(statSync(journal).size - before).toBeLessThan(500);
    expect((await loadSession(store)).head).toEqual({ large, turn: 2 });
    expect((await loadSession(new JsonFileAgentStateStore({ root }))).head).toEqual({
      large,
      turn: 2,
    });
  });
});

describe("generations", () => {
  test("when the files hold much more than the session, they are written anew and the old ones go", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    await append(store, ["one"], { turn: 1 });
    for (let round = 0; round < 3; round++) await rotate(store);
    const revision = await append(store, ["two"], { turn: 2 });
    expect(sessionFiles(root)).toEqual(["journal.4.jsonl", "state.4.json"]);
    for (const reader of [store, new JsonFileAgentStateStore({ root })]) {
      const loaded = await loadSession(reader);
      expect(loaded).toMatchObject({ revision, head: { turn: 2 } });
      expect(loaded.messages).toHaveLength(2);
    }
  });

  test("ops are remembered across generations, until a delete", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    const write = change(null, { turn: 1 });
    const revision = await store.save(slot, write);
    await rotate(store);
    expect(await new JsonFileAgentStateStore({ root }).save(slot, write)).toBe(revision);
    await store.delete(slot);
    const again = await new JsonFileAgentStateStore({ root }).save(slot, write);
    expect(again).not.toBe(revision);
    expect(await loadSession(store)).toMatchObject({ revision: again });
  });

  test("revisions go on counting after a delete, so that a recreated session is no run-back", async () => {
    const store = new JsonFileAgentStateStore({ root: temporaryRoot() });
    for (const text of ["one", "two", "three"]) await append(store, [text]);
    await store.delete(slot);
    expect(await append(store, ["anew"])).toMatch(/^4\./);
  });

  test("a delete leaves nothing of the contents on disk", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    await append(store, ["a secret"], { note: "a secret" });
    await rotate(store);
    await append(store, ["a secret"]);
    expect(await store.delete(slot)).toBe(true);
    expect(sessionFiles(root)).toHaveLength(1);
    for (const name of sessionFiles(root))
      expect(readFileSync(join(sessionDirectory(root), name), "utf8")).not.toContain("secret");
  });

  test("files left by a process that died are removed: old generations at once, temporaries after an hour", async () => {
    const root = temporaryRoot();
    await append(new JsonFileAgentStateStore({ root }), ["one"]);
    await rotate(new JsonFileAgentStateStore({ root }));
    const directory = sessionDirectory(root);
    // No process has so high a pid; 1 is that of one which runs.
    const [dead, alive] = ["tmp.4194399.0123456789abcdef", "tmp.1.0123456789abcdef"];
    const old = ["state.1.json", "journal.1.jsonl", dead, alive];
    for (const name of [...old, "tmp.2.0123456789abcdef"])
      writeFileSync(join(directory, name), "x");
    const twoHoursAgo = Date.now() / 1_000 - 7_200;
    for (const name of [dead, alive]) utimesSync(join(directory, name), twoHoursAgo, twoHoursAgo);
    await append(new JsonFileAgentStateStore({ root }), ["two"]);
    expect(sessionFiles(root)).toEqual([
      "journal.2.jsonl",
      "state.2.json",
      alive,
      "tmp.2.0123456789abcdef",
    ]);
  });
});

describe("deleted sessions", () => {
  test("the directory of a session deleted more than a day ago goes with a listing, and the session can begin anew", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    const recent = { ...slot, sessionId: "recent" };
    for (const each of [slot, recent]) {
      await store.save(each, change(null));
      await store.delete(each);
    }
    const marker = join(sessionDirectory(root), sessionFiles(root)[0] ?? "");
    const longAgo = (Date.now() - 2 * DAY_MS) / 1_000;
    utimesSync(marker, longAgo, longAgo);
    expect(await store.list()).toEqual({ slots: [] });
    expect(readdirSync(join(root, "agent", "user-user"))).toEqual(["recent"]);
    expect(await store.load(slot)).toBeNull();
    await append(store, ["anew"]);
    expect((await loadSession(store)).messages).toHaveLength(1);
  });

  test("a sweep that died half-way harms nobody: the session can begin anew", async () => {
    const root = temporaryRoot();
    const store = new JsonFileAgentStateStore({ root });
    await append(store, ["old"]);
    await store.delete(slot);
    const [marker = ""] = sessionFiles(root);
    const { renameSync } = await import("node:fs");
    renameSync(
      join(sessionDirectory(root), marker),
      join(sessionDirectory(root), marker.replace("state", "swept")),
    );
    const other = new JsonFileAgentStateStore({ root });
    expect(await other.load(slot)).toBeNull();
    const revision = await append(other, ["anew"]);
    expect(await store.load(slot)).toMatchObject({ revision });
    expect(sessionFiles(root)).toEqual(["journal.2.jsonl", "state.2.json"]);
  });

  test("sessions that are deleted, swept and begun by several instances at once keep every acknowledged save", async () => {
    const root = temporaryRoot();
    const stores = Array.from(
      { length: 4 },
      () => new JsonFileAgentStateStore({ root, durability: "os" }),
    );
    const [first] = stores;
    if (first === undefined) throw new Error("no store");
    const longAgo = (Date.now() - 2 * DAY_MS) / 1_000;
    for (let round = 0; round < 60; round++) {
      await append(first, ["old"]);
      await first.delete(slot);
      const marker = sessionFiles(root).find((name) => name.startsWith("state.")) ?? "";
      utimesSync(join(sessionDirectory(root), marker), longAgo, longAgo);
      const [, ...began] = await Promise.allSettled([
        first.list(),
        ...stores.slice(1).map((store) => store.save(slot, change(null))),
      ]);
      const revisions = began.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      expect(revisions).toHaveLength(1);
      expect((await loadSession(first)).revision).toBe(revisions[0]);
      await first.delete(slot);
    }
  });
});

test("a record cut short is skipped and reported, without its contents", async () => {
  const root = temporaryRoot();
  const reports: StoreReport[] = [];
  const store = new JsonFileAgentStateStore({ root, onReport: (report) => reports.push(report) });
  await append(store, ["one"]);
  const journal = join(sessionDirectory(root), "journal.1.jsonl");
  writeFileSync(journal, '\n{"bytes":4000,"kind":"save","secret', { flag: "a" });
  await append(store, ["two"]);
  expect((await loadSession(store)).messages).toHaveLength(2);
  expect(reports.length).toBeGreaterThan(0);
  for (const report of reports) {
    expect(report.kind).toBe("torn_record");
    expect(report.message).not.toContain("secret");
  }
});

test("what a power loss leaves of a write that never reached the disk, zeros, is skipped", async () => {
  const root = temporaryRoot();
  const store = new JsonFileAgentStateStore({ root });
  await append(store, ["one"]);
  const journal = join(sessionDirectory(root), "journal.1.jsonl");
  writeFileSync(journal, Buffer.alloc(3_000), { flag: "a" });
  await append(new JsonFileAgentStateStore({ root }), ["two"]);
  expect((await loadSession(new JsonFileAgentStateStore({ root }))).messages).toHaveLength(2);
});

test("a listing passes over what does not belong and reports it", async () => {
  const root = temporaryRoot();
  const reports: StoreReport[] = [];
  const store = new JsonFileAgentStateStore({ root, onReport: (report) => reports.push(report) });
  await append(store, ["one"]);
  const stranger = join(root, "agent", "user-user", "stranger");
  mkdirSync(stranger);
  writeFileSync(join(stranger, "state.7.json"), "not a snapshot");
  writeFileSync(join(root, "agent", "notes.txt"), "a file of somebody else's");
  expect((await store.list()).slots.map((info) => info.slot)).toEqual([slot]);
  expect(reports.map(({ kind }) => kind)).toEqual(["entry_skipped"]);
});
