import { HoldfastError, StoreUnavailableError } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import { eventually } from "@holdfast/testing";
import { privateRedis, tcpProxy } from "@holdfast/testing/servers";
import { expect, test } from "vitest";
import { ioredis } from "../state/servers.js";
import { Gates, slot } from "./gates.js";

const gates = new Gates();

function proxyToServer() {
  const { hostname, port } = new URL(gates.url);
  return tcpProxy({ host: hostname, port: Number(port) });
}

const urlOf = ({ host, port }: { host: string; port: number }) => `redis://${host}:${port}`;

test("when the server falls silent, a fresh call fails, and a holder loses its lease", async () => {
  await using proxy = await proxyToServer();
  const gate = gates.open({ url: urlOf(proxy), leaseMs: 3_000, commandTimeoutMs: 1_500 });
  const lease = await gate.acquire(slot, { callId: "c-1" });
  proxy.mode = "hold";
  const error = await gate.acquire(slot, { callId: "c-2" }).catch((reason: unknown) => reason);
  expect(StoreUnavailableError.is(error), String(error)).toBe(true);
  expect(String(error)).toContain('session "session" of user "user"');
  await eventually(() => lease.lost.aborted);
  expect(HoldfastError.is(lease.lost.reason) && lease.lost.reason.code).toBe("LEASE_LOST");
  proxy.mode = "pass";
  await eventually(async () => (await gates.keys()).length === 0);
});

test("a call that waits goes on waiting through an outage shorter than its lease", async () => {
  await using proxy = await proxyToServer();
  const held = await gates.open().acquire(slot, { callId: "c-1" });
  const gate = gates.open({ url: urlOf(proxy), leaseMs: 9_000, commandTimeoutMs: 1_000 });
  const waiting = gate.acquire(slot, { callId: "c-2" });
  const direct = gates.open();
  await eventually(async () => (await direct.calls(slot)).length === 2);
  proxy.mode = "hold";
  await held.release();
  // Long enough for it to announce itself in vain.
  const since = performance.now();
  while (performance.now() - since < 3_800)
    await expect(gate.calls(slot)).rejects.toSatisfy(StoreUnavailableError.is);
  proxy.mode = "pass";
  const lease = await waiting;
  expect(await direct.calls(slot)).toEqual(["c-2"]);
  await lease.release();
});

test("a call that waits is told when an outage has cost it its place", async () => {
  await using proxy = await proxyToServer();
  const held = await gates.open().acquire(slot, { callId: "c-1" });
  const gate = gates.open({ url: urlOf(proxy), leaseMs: 2_000, commandTimeoutMs: 1_000 });
  const waiting = gate.acquire(slot, { callId: "c-2" }).catch((reason: unknown) => reason);
  await eventually(async () => (await gate.calls(slot)).length === 2);
  proxy.mode = "hold";
  const error = await waiting;
  expect(StoreUnavailableError.is(error), String(error)).toBe(true);
  await held.release();
  proxy.mode = "pass";
});

test("an answer that was lost does not cost a call its lease, nor its place", async () => {
  await using proxy = await proxyToServer();
  const gate = gates.open({ url: urlOf(proxy) });
  const lose = (callId: string) => {
    let isLost = false;
    proxy.losesReply = (request) => {
      if (isLost || !request.includes(callId)) return false;
      isLost = true;
      return true;
    };
    return () => expect(isLost).toBe(true);
  };
  let wasLost = lose("first-call");
  const first = await gate.acquire(slot, { callId: "first-call" });
  wasLost();
  wasLost = lose("second-call");
  const waiting = gate.acquire(slot, { callId: "second-call" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  wasLost();
  expect(await gate.calls(slot)).toEqual(["first-call", "second-call"]);
  await first.release();
  await (await waiting).release();
  await eventually(async () => (await gates.keys()).length === 0);
});

test("a call that gave up before it was answered does not keep what it is then given", async () => {
  await using proxy = await proxyToServer();
  const gate = gates.open({ url: urlOf(proxy) });
  await (await gate.acquire(slot, { callId: "warm" })).release();
  proxy.mode = "hold";
  const leaving = new AbortController();
  const given = gate.acquire(slot, { callId: "c-1", signal: leaving.signal });
  leaving.abort("gave up");
  await expect(given).rejects.toBe("gave up");
  proxy.mode = "pass";
  await eventually(async () => (await gates.keys()).length === 0);
  expect(gate.size).toBe(0);
});

test("after the subscriber was cut off, who waits looks for itself", async () => {
  // A server of its own, as everybody's subscriptions are cut.
  await using server = await privateRedis();
  const { client, end } = ioredis(server.url);
  const gate = gates.open({ url: server.url, leaseMs: 900_000 });
  await gate.acquire(slot, { callId: "c-1" });
  const waiting = gate.acquire(slot, { callId: "c-2" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  await client.del(gates.key("lease"));
  await client.call("CLIENT", "KILL", "TYPE", "pubsub");
  // It would look anyway after a third of the lease: by then the test would be out of time.
  await (await waiting).release();
  await end();
});

test("a server that is out of memory is not called out of reach, neither to who comes nor to who waits", async () => {
  await using server = await privateRedis();
  const { client, end } = ioredis(server.url);
  const gate = gates.open({ url: server.url, leaseMs: 3_000 });
  await gate.acquire(slot, { callId: "c-1" });
  const waiting = gate.acquire(slot, { callId: "c-2" }).catch((reason: unknown) => reason);
  await eventually(async () => (await gate.calls(slot)).length === 2);
  await client.config("SET", "maxmemory", "1");
  const [fresh, waited] = await Promise.all([
    gate.acquire(slot, { callId: "c-3" }).catch((reason: unknown) => reason),
    waiting,
  ]);
  const failed = `${describeSlot(slot)} failed: Redis answered OOM; it is out of memory, check maxmemory`;
  expect(fresh).toMatchObject({ message: `queueing for ${failed}` });
  expect(waited).toMatchObject({ message: `waiting for ${failed}` });
  expect([fresh, waited].every(StoreUnavailableError.is)).toBe(true);
  await end();
});
