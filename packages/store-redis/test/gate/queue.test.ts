import { eventually } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Gates, slot } from "./gates.js";

const gates = new Gates();

test("calls of two nodes are served in the order in which they came", async () => {
  const nodes = [gates.open(), gates.open()];
  const first = await nodes[0]?.acquire(slot, { callId: "first" });
  const order: number[] = [];
  const calls: Promise<void>[] = [];
  for (let index = 0; index < 12; index++) {
    const node = nodes[(index * 5) % 3 === 0 ? 0 : 1] as (typeof nodes)[number];
    const call = node.acquire(slot, { callId: `c-${index}` }).then(async (lease) => {
      order.push(index);
      await lease.release();
    });
    calls.push(call);
    await eventually(async () => (await node.calls(slot)).length === index + 2);
  }
  await first?.release();
  await Promise.all(calls);
  expect(order).toEqual(calls.map((_, index) => index));
});

test("a slot whose calls have finished leaves neither keys nor memory behind", async () => {
  const nodes = [gates.open(), gates.open()];
  const leaving = new AbortController();
  const held = await nodes[0]?.acquire(slot, { callId: "held" });
  const waiting = nodes.map((node) => node.acquire(slot, { callId: "waits" }));
  const left = nodes.map((node) =>
    node.acquire(slot, { callId: "leaves", signal: leaving.signal }).catch((reason) => reason),
  );
  await eventually(async () => (await nodes[0]?.calls(slot))?.length === 5);
  const refused = await nodes[1]?.acquire(slot, { callId: "no", wait: false }).catch((e) => e.code);
  expect(refused).toBe("SESSION_BUSY");
  expect(await gates.keys()).toEqual(
    ["calls", "lease", "queue"].map((part) => gates.key(part as "calls")),
  );
  leaving.abort("left");
  expect(await Promise.all(left)).toEqual(["left", "left"]);
  await held?.release();
  for (const lease of waiting) await (await lease).release();
  await eventually(async () => (await gates.keys()).length === 0);
  expect(nodes.map(({ size }) => size)).toEqual([0, 0]);
});

test("every key of a slot in use expires by itself", async () => {
  const gate = gates.open({ leaseMs: 3_000 });
  const lost = await gate.acquire(slot, { callId: "c-1" });
  void gate.acquire(slot, { callId: "c-2" }).catch(() => undefined);
  await eventually(async () => (await gate.calls(slot)).length === 2);
  for (const key of await gates.keys()) {
    const ttl = await gates.client.pttl(key);
    expect(ttl, key).toBeGreaterThan(0);
    expect(ttl, key).toBeLessThanOrEqual(3_000);
  }
  await gate.close();
  expect(lost.lost.aborted).toBe(true);
  expect(await gate.acquire(slot, { callId: "c-3" }).catch((e) => e.code)).toBe("UNAVAILABLE");
  await eventually(async () => (await gates.keys()).length === 0);
});

test("a waiter whose wake-up is lost still gets its turn", async () => {
  const gate = gates.open({ leaseMs: 3_000 });
  await gate.acquire(slot, { callId: "c-1" });
  const waiting = gates.open({ leaseMs: 3_000 }).acquire(slot, { callId: "c-2" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  // As a release whose message nobody got.
  await gates.client.del(gates.key("lease"));
  await (await waiting).release();
});

test("a call that comes while the first waiter is on its way does not pass it", async () => {
  const gate = gates.open({ leaseMs: 3_000 });
  await gate.acquire(slot, { callId: "c-1" });
  const waiting = gate.acquire(slot, { callId: "c-2" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  await gates.client.del(gates.key("lease"));
  const refused = await gate.acquire(slot, { callId: "c-3", wait: false }).catch((e) => e.code);
  expect(refused).toBe("SESSION_BUSY");
  await (await waiting).release();
});

test("a waiter that is not heard of any more is passed over", async () => {
  const dead = gates.open({ leaseMs: 3_000 });
  const gate = gates.open({ leaseMs: 3_000 });
  const held = await gate.acquire(slot, { callId: "held" });
  void dead.acquire(slot, { callId: "dead" }).catch(() => undefined);
  await eventually(async () => (await gate.calls(slot)).length === 2);
  const waiting = gate.acquire(slot, { callId: "next" });
  await eventually(async () => (await gate.calls(slot)).length === 3);
  // Its node falls silent: what it would say reaches nobody.
  const [ticket] = await gates.client.lrange(gates.key("queue"), 0, 0);
  await dead.close();
  await gates.client.lpush(gates.key("queue"), ticket as string);
  await gates.client.hset(
    gates.key("calls"),
    `w:${ticket}`,
    `${Date.now() + 600}\n0\nnowhere\ndead`,
  );
  await held.release();
  await (await waiting).release();
  await eventually(async () => (await gates.keys()).length === 0);
});

test("dead tickets do not count against maxQueue", async () => {
  const gate = gates.open();
  const held = await gate.acquire(slot, { callId: "held" });
  await gates.client.rpush(gates.key("queue"), "t-1", "t-2");
  await gates.client.hset(
    gates.key("calls"),
    "w:t-1",
    "1\n0\nnowhere\nc",
    "s:t-1:id",
    "{}",
    "s:t-9:id",
    "{}",
  );
  const waiting = gate.acquire(slot, { callId: "c", maxQueue: 1 });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  expect(await gates.client.llen(gates.key("queue"))).toBe(1);
  expect(await gates.client.hlen(gates.key("calls"))).toBe(1);
  await held.release();
  await (await waiting).release();
});

test("scripts that the server forgot are sent again", async () => {
  const gate = gates.open();
  const held = await gate.acquire(slot, { callId: "c-1" });
  await gates.client.script("FLUSH");
  const waiting = gate.acquire(slot, { callId: "c-2" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  await gates.client.script("FLUSH");
  await held.release();
  await (await waiting).release();
});
