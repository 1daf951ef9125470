import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileSignalBus } from "@holdfast/store-json";
import { describeSignalBus, eventually, spawnScript } from "@holdfast/testing";
import { expect, test } from "vitest";
import { sessionDirectory, slot } from "./session.js";
import { temporaryRoot } from "./temporary-root.js";

const roots = new WeakMap<object, string>();

describeSignalBus("FileSignalBus", {
  create: () => busAt(temporaryRoot()),
  reopen: (bus) => busAt(roots.get(bus) ?? ""),
});

const listener = new URL("./children/listener.mjs", import.meta.url);

test("a signal reaches the process that runs the call, and a killed one is not reached", async () => {
  const root = temporaryRoot();
  const bus = new FileSignalBus({ root });
  const child = spawnScript(listener, [root]);
  await child.line("listening");
  expect(await bus.send(slot, "call", { kind: "interrupt" })).toBe(true);
  await child.line("got interrupt");
  expect(await bus.send(slot, "other", { kind: "interrupt" })).toBe(false);
  await child.kill9();
  expect(await bus.send(slot, "call", { kind: "rollback" })).toBe(false);
  expect(readdirSync(sessionDirectory(root))).toEqual([]);
});

test("what a killed process leaves behind goes with the next call of the session", async () => {
  const root = temporaryRoot();
  const child = spawnScript(listener, [root]);
  await child.line("listening");
  const bus = new FileSignalBus({ root });
  const first = await bus.listen(slot, "other", () => {});
  expect(readdirSync(sessionDirectory(root))).toHaveLength(2);
  await child.kill9();
  const second = await bus.listen(slot, "another", () => {});
  expect(readdirSync(sessionDirectory(root)).map((name) => name.split("@")[0])).toEqual([
    "another",
    "other",
  ]);
  expect(await new FileSignalBus({ root }).send(slot, "other", { kind: "interrupt" })).toBe(true);
  await first.close();
  await second.close();
  await bus.close();
  expect(readdirSync(join(root, "agent", "user-user"))).toEqual([]);
});

test("what a killed process leaves behind goes beside the calls of other sessions, and what lives stays", async () => {
  const root = temporaryRoot();
  const [killed, alive] = [spawnScript(listener, [root]), spawnScript(listener, [root, "living"])];
  await killed.line("listening");
  await alive.line("listening");
  await killed.kill9();
  // Left by a process that was killed while it made it, and by one that makes it now.
  const [unfinished, beingMade] = ["unfinished@1", "being made@2"].map((name) =>
    join(root, "agent", "user-user", "half", name),
  ) as [string, string];
  for (const directory of [unfinished, beingMade]) mkdirSync(directory, { recursive: true });
  utimesSync(unfinished, Date.now() / 1_000 - 7_200, Date.now() / 1_000 - 7_200);
  const bus = new FileSignalBus({ root });
  const elsewhere = await bus.listen({ ...slot, agentId: "other" }, "call", () => {});
  await eventually(() => !existsSync(sessionDirectory(root)) && !existsSync(unfinished));
  expect(existsSync(beingMade)).toBe(true);
  const living = { ...slot, sessionId: "living" };
  expect(await bus.send(living, "call", { kind: "interrupt" })).toBe(true);
  await alive.line("got interrupt");
  await elsewhere.close();
  await alive.kill9();
});

test("a listener of another container is taken for gone after a day, not before", async () => {
  const root = temporaryRoot();
  const bus = new FileSignalBus({ root });
  const old = join(sessionDirectory(root), "call@old");
  const recent = join(sessionDirectory(root), "call@recent");
  for (const directory of [old, recent]) {
    mkdirSync(directory, { recursive: true });
    const owner = { pid: 1, start: null, host: "elsewhere" };
    writeFileSync(join(directory, "listener.json"), JSON.stringify(owner));
  }
  const days = Date.now() / 1_000 - 2 * 86_400;
  utimesSync(join(old, "listener.json"), days, days);
  const empty = join(sessionDirectory(root), "call@empty");
  mkdirSync(empty);
  writeFileSync(join(empty, "listener.json"), "");
  const subscription = await bus.listen(slot, "mine", () => {});
  expect([old, recent, empty].map((directory) => existsSync(directory))).toEqual([
    false,
    true,
    false,
  ]);
  await subscription.close();
});

test("a call that ended leaves no name to send to, and after seconds nothing on disk", async () => {
  const root = temporaryRoot();
  const bus = new FileSignalBus({ root });
  const subscriptions = await Promise.all(
    ["a", "b", "c"].map((callId) => bus.listen(slot, callId, () => {})),
  );
  expect(readdirSync(sessionDirectory(root))).toHaveLength(3);
  await Promise.all(subscriptions.map((subscription) => subscription.close()));
  expect(readdirSync(sessionDirectory(root)).filter((name) => !name.startsWith("@"))).toEqual([]);
  await eventually(() => !existsSync(sessionDirectory(root)), { timeoutMs: 60_000 });
  const ofUser = join(root, "agent", "user-user");
  expect(existsSync(ofUser) ? readdirSync(ofUser) : []).toEqual([]);
});

function busAt(root: string): FileSignalBus {
  const bus = new FileSignalBus({ root });
  roots.set(bus, root);
  return bus;
}

test("calls one after the other get their own signals, wherever they are sent from", async () => {
  const root = temporaryRoot();
  const [bus, elsewhere] = [busAt(root), busAt(root)];
  for (const sessionId of ["one", "two", "one"]) {
    const there = { ...slot, sessionId };
    const got: string[] = [];
    const first = await bus.listen(there, "first", ({ kind }) => void got.push(`first ${kind}`));
    expect(await elsewhere.send(there, "first", { kind: "interrupt" })).toBe(true);
    await eventually(() => got.length === 1);
    await first.close();
    expect(await elsewhere.send(there, "first", { kind: "rollback" })).toBe(false);
    const second = await bus.listen(there, "second", ({ kind }) => void got.push(`second ${kind}`));
    expect(await elsewhere.send(there, "second", { kind: "rollback" })).toBe(true);
    await eventually(() => got.length === 2);
    expect(got).toEqual(["first interrupt", "second rollback"]);
    await second.close();
  }
  await bus.close();
  expect(readdirSync(join(root, "agent", "user-user"))).toEqual([]);
});
