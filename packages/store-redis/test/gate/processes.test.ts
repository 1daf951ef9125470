import { textOf } from "@holdfast/core";
import { eventually, spawnScript } from "@holdfast/testing";
import { expect, test } from "vitest";
import { loadState, nextWrite, Stores, slot } from "../state/stores.js";

const stores = new Stores();
const leaseMs = 2_500;

function child(name: string, ...args: readonly (string | number)[]) {
  const script = new URL(`./children/${name}.mjs`, import.meta.url);
  const where = [stores.url, stores.keyPrefix, leaseMs];
  return spawnScript(script, [...args, ...where].map(String));
}

test("a process that was stopped learns when it goes on that its lease is lost, and cannot save", async () => {
  const store = stores.open({ leaseMs });
  await using holder = child("holder");
  await holder.line("held");
  process.kill(holder.pid, "SIGSTOP");
  const lease = await store.fuses.gate.acquire(slot, { callId: "next" });
  expect(lease.loaded).toBeNull();
  await store.save(slot, {
    ...nextWrite({ revision: "", head: {}, messages: [] }, ["from the next"]),
    ...{ expected: null, lease: lease.token },
  });
  process.kill(holder.pid, "SIGCONT");
  await holder.line("lost LEASE_LOST");
  holder.send("from the one that was stopped");
  await holder.line("refused LEASE_LOST");
  expect(lease.lost.aborted).toBe(false);
  expect((await loadState(store)).messages.map(textOf)).toEqual(["from the next"]);
  await lease.release();
});

test("the lease of a killed process ends by itself", async () => {
  const store = stores.open({ leaseMs });
  await using holder = child("holder");
  await holder.line("held");
  expect(await store.fuses.gate.calls(slot)).toEqual(["child"]);
  await holder.kill9();
  await (await store.fuses.gate.acquire(slot, { callId: "next" })).release();
  await eventually(async () => (await stores.keys(stores.keyPrefix)).length === 0);
});

test("processes take turns on one session, one of them killed: every acknowledged turn is there once", async () => {
  const turns = process.env["HOLDFAST_LONG"] === "1" ? 500 : 15;
  const workers = ["a", "b", "c"].map((label) => child("worker", label, turns));
  const [victim, ...others] = workers as [(typeof workers)[0], ...typeof workers];
  await victim.line(`a ${Math.floor(turns / 2)}`);
  await victim.kill9();
  for (const worker of others) await worker.line("done");
  const said = (await loadState(stores.open())).messages.map(textOf);
  expect(new Set(said).size, "none is there twice").toBe(said.length);
  for (const [index, worker] of workers.entries()) {
    const acknowledged = worker.lines.filter((line) => line !== "done");
    const kept = said.filter((text) => text.startsWith("abc"[index] as string));
    expect(kept.slice(0, acknowledged.length)).toEqual(acknowledged);
    // The killed one may have saved once more before it could say so.
    expect(kept.length - acknowledged.length).toBeLessThanOrEqual(worker === victim ? 1 : 0);
  }
  for (const worker of workers) await worker[Symbol.asyncDispose]();
});
