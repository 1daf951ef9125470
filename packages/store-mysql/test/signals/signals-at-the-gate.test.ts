import { userMessage } from "@holdfast/core";
import type { Signal } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { eventually } from "@holdfast/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";

const pool = testPool();
const slot = slotNamed("s");
let prefix: string;
let network: Awaited<ReturnType<typeof proxiedPool>>;
/** The node whose calls are signalled, behind a network that can fail, and the one that signals. */
let node: MysqlDistributedStore;
let sender: MysqlDistributedStore;

beforeEach(async () => {
  prefix = freshPrefix();
  network = await proxiedPool();
  node = MysqlDistributedStore.from(network.pool, { tablePrefix: prefix, signalPollMs: 30 });
  sender = MysqlDistributedStore.from(pool, { tablePrefix: prefix, signalPollMs: 30 });
  await node.stateStore.load(slot);
  await sender.stateStore.load(slot);
});
afterEach(async () => {
  await node.close();
  await sender.close();
  await network[Symbol.asyncDispose]();
  await dropTables(pool, prefix);
});

async function listen(callId: string) {
  const signals: Signal[] = [];
  const handler = (signal: Signal) => void signals.push(signal);
  const { close } = await node.signals.listen(slot, callId, handler, { enters: node.gate });
  return { signals, close };
}

test("a call that enters the gate registers nowhere else, and is reached while it holds", async () => {
  const before = network.proxy.bytesUp;
  const { signals } = await listen("c-1");
  expect(network.proxy.bytesUp, "listening takes no statement").toBe(before);
  expect(await sender.signals.send(slot, "c-1", { kind: "interrupt" })).toBe(false);
  const lease = await node.gate.acquire(slot, { callId: "c-1" });
  const message = userMessage("stop");
  expect(await sender.signals.send(slot, "c-1", { kind: "rollback", message })).toBe(true);
  await eventually(() => signals.length > 0);
  expect(await sender.signals.send(slot, "c-1", { kind: "interrupt" })).toBe(true);
  await eventually(() => signals.length > 1);
  expect(signals).toEqual([{ kind: "rollback", message }, { kind: "interrupt" }]);
  await lease.release();
  expect(await rowsOf(pool, `SELECT * FROM ${prefix}waiters`)).toEqual([]);
});

test("a call is reached while it waits, and what reached it then is not told again when it holds", async () => {
  const held = await sender.gate.acquire(slot, { callId: "c-0" });
  const { signals } = await listen("c-1");
  const waiting = node.gate.acquire(slot, { callId: "c-1" });
  await eventually(async () => (await node.gate.calls(slot)).length === 2);
  expect(await sender.signals.send(slot, "c-1", { kind: "interrupt" })).toBe(true);
  await eventually(() => signals.length > 0);
  await held.release();
  const lease = await waiting;
  expect(await sender.signals.send(slot, "c-1", { kind: "interrupt" })).toBe(true);
  await eventually(() => signals.length > 1);
  await lease.release();
  expect(signals).toHaveLength(2);
});

test("a signal put beside a ticket right before its turn arrives with the turn", async () => {
  // Nobody looks for signals here: only the turn itself can bring it.
  const slow = MysqlDistributedStore.from(pool, { tablePrefix: prefix, signalPollMs: 3_600_000 });
  const held = await sender.gate.acquire(slot, { callId: "c-0" });
  const signals: Signal[] = [];
  await slow.signals.listen(slot, "c-1", (signal) => void signals.push(signal), {
    enters: slow.gate,
  });
  const waiting = slow.gate.acquire(slot, { callId: "c-1" });
  await eventually(async () => (await sender.gate.calls(slot)).length === 2);
  expect(await sender.signals.send(slot, "c-1", { kind: "interrupt" })).toBe(true);
  expect(signals).toEqual([]);
  await held.release();
  const lease = await waiting;
  expect(signals).toEqual([{ kind: "interrupt" }]);
  await lease.release();
  await slow.close();
});

test("a signal goes with its lease: the next call does not get it, nor one under the same id", async () => {
  const first = await node.gate.acquire(slot, { callId: "c-1" });
  expect(await sender.signals.send(slot, "c-1", { kind: "interrupt" })).toBe(true);
  await node.stateStore.save(slot, turnWrite(slot, null, 0, { lease: first.token, release: true }));
  expect(await sender.signals.send(slot, "c-1", { kind: "interrupt" })).toBe(false);
  const { signals } = await listen("c-1");
  const second = await node.gate.acquire(slot, { callId: "c-1" });
  expect(await sender.signals.send(slot, "c-1", { kind: "rollback" })).toBe(true);
  await eventually(() => signals.length > 0);
  expect(signals).toEqual([{ kind: "rollback" }]);
  await second.release();
});

test("a signal whose answer was lost is told once", async () => {
  const { signals } = await listen("c-1");
  const lease = await node.gate.acquire(slot, { callId: "c-1" });
  await using way = await proxiedPool();
  const far = MysqlDistributedStore.from(way.pool, { tablePrefix: prefix });
  await far.stateStore.load(slot);
  let lost = 0;
  way.proxy.losesReply = (request) => request.includes('"interrupt"') && lost++ === 0;
  expect(await far.signals.send(slot, "c-1", { kind: "interrupt" })).toBe(true);
  expect(lost).toBeGreaterThan(1);
  expect(await sender.signals.send(slot, "c-1", { kind: "rollback" })).toBe(true);
  await eventually(() => signals.length > 1);
  expect(signals).toEqual([{ kind: "interrupt" }, { kind: "rollback" }]);
  await far.close();
  await lease.release();
});

test("the calls of a node are looked after together", async () => {
  const leases = [];
  for (let index = 0; index < 20; index++) {
    const each = slotNamed(`s${index}`);
    await node.signals.listen(each, "c", () => undefined, { enters: node.gate });
    leases.push(await node.gate.acquire(each, { callId: "c" }));
  }
  const sizes: number[] = [];
  network.proxy.losesReply = (request) => sizes.push(request.length) < 0;
  // Some connections have not prepared the statement yet; one that is prepared is all there is to a look.
  await eventually(() => sizes.filter((size) => size > 20 * 32).length >= 8);
  network.proxy.losesReply = undefined;
  const small = sizes.filter((size) => size <= 20 * 32);
  expect(small.length, "preparing at most").toBeLessThanOrEqual(4);
  for (const lease of leases) await lease.release();
});
