import { StoreUnavailableError } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { eventually } from "@holdfast/testing";
import { tcpProxy } from "@holdfast/testing/servers";
import { createPool } from "mysql2/promise";
import { expect, inject, test } from "vitest";
import { type Leave, PoolQueue, type Precedence } from "../../src/connection/pool-queue.js";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";

const pool = testPool();
const never = Number.POSITIVE_INFINITY;
const late = (): number => performance.now() + 600_000;

test("who waits gets a connection by precedence, and in the order of coming within one", async () => {
  const queue = new PoolQueue(2);
  const held = [await queue.enter("beginning", late()), await queue.enter("beginning", late())];
  const order: string[] = [];
  const come = async (precedence: Precedence, name: string): Promise<void> => {
    const leave = await queue.enter(precedence, late());
    order.push(name);
    leave?.();
  };
  const all = [
    come("beginning", "acquire 1"),
    come("usual", "load 1"),
    come("beginning", "acquire 2"),
    come("ending", "save 1"),
    come("usual", "load 2"),
    come("ending", "save 2"),
    come("renewing", "renewal"),
  ];
  held[0]?.();
  // A second time: gives back nothing more.
  held[0]?.();
  await Promise.all(all);
  const expected = ["renewal", "save 1", "save 2", "load 1", "load 2", "acquire 1", "acquire 2"];
  expect(order).toEqual(expected);
});

test("never more take a connection than the pool has, and who is late takes none", async () => {
  const queue = new PoolQueue(3);
  let [used, most] = [0, 0];
  const use = async (): Promise<void> => {
    const leave = (await queue.enter("usual", late())) as Leave;
    most = Math.max(most, ++used);
    await new Promise(setImmediate);
    used--;
    leave();
  };
  await Promise.all(Array.from({ length: 50 }, use));
  expect(most).toBe(3);
  const held = await Promise.all([1, 2, 3].map(() => queue.enter("usual", late())));
  expect(await queue.enter("ending", performance.now() - 1)).toBeNull();
  const next = queue.enter("beginning", late());
  held[0]?.();
  expect(await next).not.toBeNull();
});

test("the queue is bounded, but for what running calls need", async () => {
  const queue = new PoolQueue(1);
  const leave = await queue.enter("usual", late());
  const waiting = Array.from({ length: 10_000 }, () => queue.enter("beginning", late()));
  expect(await queue.enter("beginning", late())).toBeNull();
  const saved = queue.enter("ending", late());
  leave?.();
  const ended = await saved;
  expect(ended).not.toBeNull();
  ended?.();
  for (const each of waiting) (await each)?.();
});

test("a pool whose size is not known is not limited", async () => {
  const queue = new PoolQueue(never);
  const all = await Promise.all(Array.from({ length: 50 }, () => queue.enter("beginning", late())));
  expect(all).not.toContain(null);
});

test("a node whose connections are all taken saves what runs before it begins anything new", async () => {
  const url = new URL(inject("mysqlUrl"));
  await using proxy = await tcpProxy({ host: url.hostname, port: Number(url.port || 3306) });
  url.host = `${proxy.host}:${proxy.port}`;
  const single = createPool({ uri: url.href, connectionLimit: 1 });
  const tablePrefix = freshPrefix();
  const store = MysqlDistributedStore.from(single, { tablePrefix, commandTimeoutMs: 60_000 });
  const slot = slotNamed("runs");
  const lease = await store.gate.acquire(slot, { callId: uuidv7() });
  const other = await store.gate.acquire(slotNamed("also runs"), { callId: uuidv7() });
  proxy.mode = "hold";
  const order: string[] = [];
  const acquires = Array.from({ length: 10 }, async (_, at) => {
    const begun = await store.gate.acquire(slotNamed(`new ${at}`), { callId: uuidv7() });
    order.push("begun");
    await begun.release();
  });
  // Nothing comes back: the first of them has the connection, the others wait for it.
  await eventually(() => proxy.connections === 1);
  const write = turnWrite(slot, null, 0, { lease: lease.token, release: true });
  const saved = store.stateStore.save(slot, write).then(() => order.push("saved"));
  const released = other.release().then(() => order.push("released"));
  proxy.mode = "pass";
  await Promise.all([...acquires, saved, released]);
  expect(order.slice(0, 2).toSorted()).toEqual(["released", "saved"]);
  await store.close();
  await single.end();
  await dropTables(pool, tablePrefix);
});

test("a call that gets no connection in time is refused, and those after it are served", async () => {
  const url = new URL(inject("mysqlUrl"));
  await using proxy = await tcpProxy({ host: url.hostname, port: Number(url.port || 3306) });
  url.host = `${proxy.host}:${proxy.port}`;
  const single = createPool({ uri: url.href, connectionLimit: 1 });
  const tablePrefix = freshPrefix();
  const store = MysqlDistributedStore.from(single, { tablePrefix, commandTimeoutMs: 3_000 });
  await eventually(async () => (await store.stateStore.list()).slots.length === 0);
  proxy.mode = "hold";
  const loads = Array.from({ length: 5 }, (_, at) => store.stateStore.load(slotNamed(`s${at}`)));
  const outcomes = await Promise.allSettled(loads);
  for (const outcome of outcomes)
    expect(outcome.status === "rejected" && StoreUnavailableError.is(outcome.reason)).toBe(true);
  proxy.mode = "pass";
  await eventually(async () => (await store.stateStore.load(slotNamed("s"))) === null);
  await store.close();
  await single.end();
  await dropTables(pool, tablePrefix);
});
