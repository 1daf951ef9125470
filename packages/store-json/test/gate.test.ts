import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { SessionBusyError, StoreUnavailableError } from "@holdfast/core";
import { FileSessionGate } from "@holdfast/store-json";
import { describeSessionGate, eventually, scaled, spawnScript } from "@holdfast/testing";
import { expect, test } from "vitest";
import { heldUp } from "./held-up.js";
import { sessionDirectory, sessionFiles, slot } from "./session.js";
import { needStrace } from "./strace.js";
import { temporaryRoot } from "./temporary-root.js";

const roots = new WeakMap<object, string>();

describeSessionGate("FileSessionGate", {
  create: () => gateAt(temporaryRoot()),
  reopen: (gate) => gateAt(roots.get(gate) ?? ""),
});

function gateAt(root: string): FileSessionGate {
  // A third of the lease passes until it is renewed.
  const gate = new FileSessionGate({ root, leaseMs: 9_000 });
  roots.set(gate, root);
  return gate;
}

const holder = new URL("./children/holder.mjs", import.meta.url);

test.each([
  ["that always want it", ["0", "0"]],
  ["of which one often finds it free, and takes it again in place", ["0", "8"]],
])("two processes %s never hold a session at once, and both get their turns", async (_, pauses) => {
  const root = temporaryRoot();
  const times = String(scaled(20, 2_000));
  const children = pauses.map((pause) =>
    spawnScript(holder, [root, "30000", "loop", times, pause]),
  );
  for (const child of children) await child.line("end", 300_000);
  for (const child of children) {
    expect(child.lines.filter((line) => line === "overlap")).toEqual([]);
    expect(child.lines.filter((line) => line === "turn")).toHaveLength(Number(times));
    await child.exited;
  }
  // What is left is the mark of the highest number: each process took one at least.
  const [mark = "", ...others] = sessionFiles(root);
  expect(others).toEqual([]);
  expect(Number.parseInt(mark, 10)).toBeGreaterThanOrEqual(2);
});

test("a process that is late with its number, past which others have gone, waits its turn", async () => {
  needStrace();
  const root = temporaryRoot();
  const [gate, other] = [1, 2].map(() => new FileSessionGate({ root })) as [
    FileSessionGate,
    FileSessionGate,
  ];
  await (await gate.acquire(slot, { callId: "first" })).release();
  const number = join(sessionDirectory(root), "2.json");
  const late = await heldUp("link", number, holder, [root, "30000", "hold"]);
  await (await other.acquire(slot, { callId: "second" })).release();
  const lease = await gate.acquire(slot, { callId: "third" });
  await eventually(() => sessionFiles(root).includes("4.json"));
  expect(late.pending).toEqual([]);
  await lease.release();
  expect(await late.next()).toBe("held");
  late.kill();
});

test("a process that is late with taking its ticket again waits for one that came meanwhile", async () => {
  needStrace();
  const root = temporaryRoot();
  const late = await heldUp("pwrite64", join(sessionDirectory(root), "1.json"), holder, [
    ...[root, "30000", "again"],
  ]);
  const gate = new FileSessionGate({ root });
  const lease = await gate.acquire(slot, { callId: "meanwhile" });
  await eventually(() => sessionFiles(root).includes("3.json"));
  expect(late.pending).toEqual([]);
  await lease.release();
  expect(await late.next()).toBe("held");
  late.kill();
});

test("no lease outlives its process: killed holders and waiters are passed over at once", async () => {
  const root = temporaryRoot();
  for (let round = 0; round < scaled(1, 30); round++) {
    // The lease is far longer than the test may take: only the process's end can free it.
    const first = spawnScript(holder, [root, "3600000", "hold"]);
    await first.line("held");
    const second = spawnScript(holder, [root, "3600000", "hold"]);
    const gate = new FileSessionGate({ root, leaseMs: 3_600_000 });
    await eventually(async () => (await gate.calls(slot)).length === 2);
    const waiting = gate.acquire(slot, { callId: "mine" });
    await eventually(async () => (await gate.calls(slot)).length === 3);
    await second.kill9();
    await first.kill9();
    const lease = await waiting;
    expect(await gate.calls(slot)).toEqual(["mine"]);
    await lease.release();
  }
});

test("a holder that stands still longer than its lease loses it, and is told when it goes on", async () => {
  const root = temporaryRoot();
  const child = spawnScript(holder, [root, "1000", "hold"]);
  await child.line("held");
  process.kill(child.pid, "SIGSTOP");
  const gate = new FileSessionGate({ root });
  const lease = await gate.acquire(slot, { callId: "mine" });
  process.kill(child.pid, "SIGCONT");
  await child.line("lost LEASE_LOST");
  await child.exited;
  expect(lease.lost.aborted).toBe(false);
  expect(await gate.calls(slot)).toEqual(["mine"]);
  await lease.release();
});

test("a holder that stands still longer than its lease is no longer among the calls, for a process that only looks", async () => {
  const root = temporaryRoot();
  const child = spawnScript(holder, [root, "1000", "hold"]);
  await child.line("held");
  const gate = new FileSessionGate({ root });
  expect(await gate.calls(slot)).toEqual(["held"]);
  process.kill(child.pid, "SIGSTOP");
  await eventually(async () => (await gate.calls(slot)).length === 0);
  await child.kill9();
});

test("a holder that stood still for its whole lease gives up, though nobody has come yet", async () => {
  const root = temporaryRoot();
  const child = spawnScript(holder, [root, "1000", "hold"]);
  await child.line("held");
  process.kill(child.pid, "SIGSTOP");
  await setTimeout(1_500);
  process.kill(child.pid, "SIGCONT");
  await child.line("lost LEASE_LOST");
  await child.exited;
});

test("a holder that stood still knows at once that its lease is over", async () => {
  const root = temporaryRoot();
  const child = spawnScript(holder, [root, "3000", "stop"]);
  await child.line("held");
  const gate = new FileSessionGate({ root });
  // Its heartbeats keep it until it is stopped.
  await expect(gate.acquire(slot, { callId: "mine", wait: false })).rejects.toSatisfy(
    SessionBusyError.is,
  );
  process.kill(child.pid, "SIGSTOP");
  const lease = await gate.acquire(slot, { callId: "mine" });
  process.kill(child.pid, "SIGCONT");
  await child.line("continued true true");
  await child.exited;
  expect(await gate.calls(slot)).toEqual(["mine"]);
  expect(lease.lost.aborted).toBe(false);
  await lease.release();
});

test("a waiter that stands still is passed over, and queues again when it goes on", async () => {
  const root = temporaryRoot();
  const gate = new FileSessionGate({ root });
  const first = await gate.acquire(slot, { callId: "first" });
  const child = spawnScript(holder, [root, "2000", "hold"]);
  await eventually(async () => (await gate.calls(slot)).includes("held"));
  const behind = new FileSessionGate({ root });
  const waiting = behind.acquire(slot, { callId: "behind" });
  await eventually(async () => (await gate.calls(slot)).length === 3);
  process.kill(child.pid, "SIGSTOP");
  await first.release();
  const second = await waiting;
  process.kill(child.pid, "SIGCONT");
  await eventually(async () => (await gate.calls(slot)).join() === "behind,held");
  expect(child.lines).not.toContain("held");
  await second.release();
  await child.line("held");
  await child.kill9();
});

test("a lost lease that nobody releases does not keep other calls of its process waiting", async () => {
  const root = temporaryRoot();
  const gate = new FileSessionGate({ root, leaseMs: 600 });
  const lost = await gate.acquire(slot, { callId: "c" });
  for (const name of sessionFiles(root)) rmSync(join(sessionDirectory(root), name));
  await eventually(() => lost.lost.aborted);
  const next = await gate.acquire(slot, { callId: "d" });
  await lost.release();
  expect(await gate.calls(slot)).toEqual(["d"]);
  await next.release();
  expect(await gate.calls(slot)).toEqual([]);
});

test("calls of one process wait first come, first served, with one ticket between them", async () => {
  const root = temporaryRoot();
  const gate = new FileSessionGate({ root });
  const first = await gate.acquire(slot, { callId: "0" });
  const order: string[] = [];
  const others = Array.from({ length: 20 }, async (_, index) => {
    const callId = String(index + 1);
    const lease = await gate.acquire(slot, { callId });
    order.push(callId);
    await lease.release();
  });
  const all = Array.from({ length: 21 }, (_, index) => String(index));
  await eventually(async () => (await gate.calls(slot)).length === 21);
  expect(await gate.calls(slot)).toEqual(all);
  expect(sessionFiles(root)).toEqual(["1.json"]);
  await expect(gate.acquire(slot, { callId: "x", maxQueue: 20 })).rejects.toSatisfy(
    SessionBusyError.is,
  );
  await first.release();
  await Promise.all(others);
  expect(order).toEqual(all.slice(1));
});

test("a holder whose ticket was taken away is told", async () => {
  const root = temporaryRoot();
  const gate = new FileSessionGate({ root, leaseMs: 60 });
  const lease = await gate.acquire(slot, { callId: "c" });
  for (const name of sessionFiles(root)) rmSync(join(sessionDirectory(root), name));
  await eventually(() => lease.lost.aborted);
  expect(lease.lost.reason).toMatchObject({ code: "LEASE_LOST" });
  await lease.release();
  await (await gate.acquire(slot, { callId: "d", wait: false })).release();
});

test("a lease that is renewed lasts as long as its holder wants", async () => {
  const root = temporaryRoot();
  const held = await new FileSessionGate({ root, leaseMs: 2_000 }).acquire(slot, { callId: "c" });
  const other = new FileSessionGate({ root });
  const controller = new AbortController();
  const waiting = other.acquire(slot, { callId: "d", signal: controller.signal });
  const settled = waiting.then(
    () => "got it",
    (reason: unknown) => reason,
  );
  // Two of its leases, counted by its own renewals.
  const seen = new Set<string>();
  await eventually(() => {
    const [name = ""] = sessionFiles(root);
    seen.add(String(statSync(join(sessionDirectory(root), name)).mtimeMs));
    return seen.size > 6;
  });
  controller.abort("enough");
  expect(await settled).toBe("enough");
  expect(held.lost.aborted).toBe(false);
  await held.release();
});

test("numbers never go back, and a slot leaves one small mark on disk", async () => {
  const root = temporaryRoot();
  for (let count = 0; count < 5; count++) {
    const gate = new FileSessionGate({ root });
    await (await gate.acquire(slot, { callId: "c" })).release();
    await gate.close();
  }
  expect(sessionFiles(root)).toEqual(["5.json"]);
  const mark = readFileSync(join(sessionDirectory(root), "5.json"), "utf8");
  expect(JSON.parse(mark)).toEqual({ released: true });
  expect(mark.length).toBeLessThan(1_000);
});

test("an empty ticket, as a power loss may leave it, holds nothing", async () => {
  const root = temporaryRoot();
  const gate = new FileSessionGate({ root });
  await (await gate.acquire(slot, { callId: "c" })).release();
  writeFileSync(join(sessionDirectory(root), "2.json"), "");
  const lease = await gate.acquire(slot, { callId: "d", wait: false });
  expect(sessionFiles(root)).toEqual(["3.json"]);
  await lease.release();
});

test("a ticket of another container counts by its age, as its process cannot be looked up", async () => {
  const root = temporaryRoot();
  const gate = new FileSessionGate({ root });
  const held = await gate.acquire(slot, { callId: "c" });
  const file = join(sessionDirectory(root), "1.json");
  const ticket = JSON.parse(readFileSync(file, "utf8"));
  const foreign = { ...ticket, host: "elsewhere", gate: "another", pid: 1, leaseMs: 3_000 };
  await held.release();
  writeFileSync(join(sessionDirectory(root), "2.json"), JSON.stringify(foreign));
  const other = new FileSessionGate({ root });
  await expect(other.acquire(slot, { callId: "d", wait: false })).rejects.toSatisfy(
    SessionBusyError.is,
  );
  const lease = await other.acquire(slot, { callId: "d" });
  await lease.release();
});

test("a gate whose directory cannot be used says so", async () => {
  const root = temporaryRoot();
  writeFileSync(join(root, "agent"), "a file where a directory belongs");
  const gate = new FileSessionGate({ root });
  await expect(gate.acquire(slot, { callId: "c" })).rejects.toSatisfy(StoreUnavailableError.is);
  rmSync(join(root, "agent"));
  await (await gate.acquire(slot, { callId: "c", wait: false })).release();
  expect(readdirSync(root)).toEqual(["agent"]);
});

test("two gates in turn pass the slot on with the next number, which a gate keeps until another comes", async () => {
  const root = temporaryRoot();
  const gates = [1, 2].map(() => new FileSessionGate({ root }));
  for (let turn = 1; turn <= 4; turn++)
    for (const gate of gates)
      for (const callId of ["first", "second"])
        await (await gate.acquire(slot, { callId, wait: false })).release();
  expect(sessionFiles(root)).toEqual(["8.json"]);
});

test("a ticket taken again in place reads as the new one, however long the one before was", async () => {
  const root = temporaryRoot();
  const gate = new FileSessionGate({ root });
  for (const callId of ["short", "l".repeat(200), "s", "l".repeat(100)]) {
    const lease = await gate.acquire(slot, { callId });
    expect(sessionFiles(root)).toEqual(["1.json"]);
    expect(await new FileSessionGate({ root }).calls(slot)).toEqual([callId]);
    await lease.release();
    expect(await new FileSessionGate({ root }).calls(slot)).toEqual([]);
  }
});

test("a gate that had the slot last waits for one that came since, and is woken by it", async () => {
  const root = temporaryRoot();
  const [mine, theirs] = [1, 2].map(() => new FileSessionGate({ root })) as [
    FileSessionGate,
    FileSessionGate,
  ];
  await (await mine.acquire(slot, { callId: "mine" })).release();
  const held = await theirs.acquire(slot, { callId: "theirs" });
  await expect(mine.acquire(slot, { callId: "refused", wait: false })).rejects.toSatisfy(
    SessionBusyError.is,
  );
  const waiting = mine.acquire(slot, { callId: "mine" });
  await eventually(async () => (await theirs.calls(slot)).join() === "theirs,mine");
  await held.release();
  const lease = await waiting;
  expect(await theirs.calls(slot)).toEqual(["mine"]);
  await lease.release();
});

test("a gate does not take another's ticket for its own, though all were removed and numbers began again", async () => {
  const root = temporaryRoot();
  const [mine, theirs] = [1, 2].map(() => new FileSessionGate({ root })) as [
    FileSessionGate,
    FileSessionGate,
  ];
  await (await mine.acquire(slot, { callId: "mine" })).release();
  rmSync(sessionDirectory(root), { recursive: true });
  const held = await theirs.acquire(slot, { callId: "theirs" });
  expect(sessionFiles(root)).toEqual(["1.json"]);
  await expect(mine.acquire(slot, { callId: "refused", wait: false })).rejects.toSatisfy(
    SessionBusyError.is,
  );
  expect(await mine.calls(slot)).toEqual(["theirs"]);
  expect(sessionFiles(root)).toEqual(["1.json"]);
  await held.release();
  await (await mine.acquire(slot, { callId: "mine", wait: false })).release();
});
