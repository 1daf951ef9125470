import { userMessage } from "@holdfast/core";
import type { Signal } from "@holdfast/core/store-kit";
import { eventually } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import { expect, test } from "vitest";
import type { RedisAgentStateStore } from "../../src/state/redis-agent-state-store.js";
import { firstWrite, Stores, slot } from "../state/stores.js";

// A server of their own: all subscriptions are cut.
const stores = new Stores(() => privateRedis());

/** Listens as a call does that is about to enter the gate. */
async function listen(store: RedisAgentStateStore, callId: string) {
  const { signals, gate } = store.companions();
  const heard: Signal[] = [];
  const subscription = await signals.listen(slot, callId, (signal) => void heard.push(signal), {
    enters: gate,
  });
  return { heard, close: () => subscription.close() };
}

const send = (store: RedisAgentStateStore, callId: string, kind: Signal["kind"] = "interrupt") =>
  store.companions().signals.send(slot, callId, { kind });

test("a call is reached from another node while it waits and while it runs", async () => {
  const [here, there] = [stores.open(), stores.open()];
  const holder = await there.fuses.gate.acquire(slot, { callId: "holder" });
  const { heard, close } = await listen(here, "c-1");
  expect(await send(there, "c-1"), "it has not lined up yet").toBe(false);
  const waiting = here.fuses.gate.acquire(slot, { callId: "c-1" });
  await eventually(async () => (await there.fuses.gate.calls(slot)).length === 2);
  expect(await send(there, "c-1")).toBe(true);
  await eventually(() => heard.length === 1);
  await holder.release();
  const lease = await waiting;
  const message = userMessage("lone \ud800\nsecond line");
  const rollback = { kind: "rollback", message } as const;
  expect(await there.companions().signals.send(slot, "c-1", rollback)).toBe(true);
  await eventually(() => heard.length === 2);
  expect(heard).toEqual([{ kind: "interrupt" }, rollback]);
  await lease.release();
  expect(await send(there, "c-1"), "it is over").toBe(false);
  await close();
  await eventually(async () => (await stores.keys(stores.keyPrefix)).length === 0);
});

test("a holder that does not listen is not said to be reached", async () => {
  const [here, there] = [stores.open(), stores.open()];
  const lease = await here.fuses.gate.acquire(slot, { callId: "deaf" });
  expect(await send(there, "deaf")).toBe(false);
  await lease.release();
});

test("a signal is bound to one run of a call: the next under the same id does not get it", async () => {
  const [here, there] = [stores.open(), stores.open()];
  const first = await listen(here, "c-1");
  const lease = await here.fuses.gate.acquire(slot, { callId: "c-1" });
  expect(await send(there, "c-1")).toBe(true);
  await eventually(() => first.heard.length === 1);
  await first.close();
  await here.save(slot, firstWrite(["one"], { lease: lease.token, release: true }));
  const second = await listen(here, "c-1");
  const next = await here.fuses.gate.acquire(slot, { callId: "c-1" });
  expect(await send(there, "c-1", "rollback")).toBe(true);
  await eventually(() => second.heard.length === 1);
  expect(second.heard).toEqual([{ kind: "rollback" }]);
  expect(first.heard).toHaveLength(1);
  await next.release();
  expect(await stores.client.exists(stores.key("calls"))).toBe(0);
});

test("a signal sent while the subscriber was cut off arrives, and arrives once", async () => {
  const [here, there] = [stores.open(), stores.open()];
  const running = await listen(here, "running");
  const waits = await listen(here, "waits");
  const apart: Signal[] = [];
  const lease = await here.fuses.gate.acquire(slot, { callId: "running" });
  const waiting = here.fuses.gate.acquire(slot, { callId: "waits" });
  const bus = here.companions().signals;
  const subscription = await bus.listen(slot, "apart", (signal) => void apart.push(signal));
  await eventually(async () => (await there.fuses.gate.calls(slot)).length === 2);
  const heard = () => [running.heard.length, waits.heard.length, apart.length];
  for (let round = 1; round <= 3; round++) {
    const cut = stores.client.call("CLIENT", "KILL", "TYPE", "pubsub");
    const sent = ["running", "waits", "apart"].map((callId) => send(there, callId));
    expect(await Promise.all(sent)).toEqual([true, true, true]);
    await cut;
    await eventually(() => heard().every((count) => count === round));
  }
  await lease.release();
  await (await waiting).release();
  await subscription.close();
  expect(heard()).toEqual([3, 3, 3]);
});

test("a signal whose message nobody got is found at the next heartbeat", async () => {
  const here = stores.open({ leaseMs: 3_000 });
  const { heard } = await listen(here, "c-1");
  const lease = await here.fuses.gate.acquire(slot, { callId: "c-1" });
  const text = JSON.stringify({ kind: "interrupt" });
  await stores.client.hset(stores.key("calls"), `s:${lease.token}:id`, text);
  await eventually(() => heard.length === 1);
  await lease.release();
  expect(await stores.keys(stores.keyPrefix)).toEqual([]);
});

test("a listener that is not heard of any more is not said to be reached", async () => {
  const [here, there] = [stores.open({ leaseMs: 3_000 }), stores.open()];
  const heard: Signal[] = [];
  await here.companions().signals.listen(slot, "c-1", (signal) => void heard.push(signal));
  expect(await send(there, "c-1")).toBe(true);
  await eventually(() => heard.length === 1);
  const fields = await stores.client.hkeys(stores.key("calls"));
  const field = fields.find((name) => name.startsWith("l:")) ?? "";
  await stores.client.hset(stores.key("calls"), field, "1\n1\nnowhere\nc-1");
  expect(await send(there, "c-1")).toBe(false);
  // With its next heartbeat it counts again.
  await eventually(() => send(there, "c-1"));
});

test("a handler that throws gets its next signal", async () => {
  const here = stores.open();
  let calls = 0;
  const bus = here.companions().signals;
  await bus.listen(slot, "c-1", () => {
    calls++;
    throw new Error("a handler's own fault");
  });
  await bus.send(slot, "c-1", { kind: "interrupt" });
  await bus.send(slot, "c-1", { kind: "interrupt" });
  await eventually(() => calls === 2);
});
