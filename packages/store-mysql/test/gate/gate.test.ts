import { LeaseLostError, SessionBusyError } from "@holdfast/core";
import { MysqlSessionGate } from "@holdfast/store-mysql";
import { eventually, spawnScript } from "@holdfast/testing";
import { createPool } from "mysql2/promise";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { slotHash } from "../../src/keys.js";
import { dropTables, freshPrefix, rowsOf, testPool } from "../log/fresh-tables.js";
import { slotNamed } from "../state/turns.js";

const pool = testPool();
const holder = new URL("./children/holder.mjs", import.meta.url);
const slot = slotNamed("held");
const gates: MysqlSessionGate[] = [];
let prefix: string;

beforeEach(() => {
  prefix = freshPrefix();
});
afterEach(async () => {
  for (const gate of gates.splice(0)) await gate.close();
  await dropTables(pool, prefix);
});

function open(leaseMs = 30_000, on = pool): MysqlSessionGate {
  const gate = new MysqlSessionGate({ pool: on, tablePrefix: prefix, leaseMs });
  gates.push(gate);
  return gate;
}

async function rowsLeft(): Promise<unknown[]> {
  const counts = await rowsOf(
    pool,
    `SELECT (SELECT COUNT(*) FROM ${prefix}slots), (SELECT COUNT(*) FROM ${prefix}waiters)`,
  );
  return counts[0] ?? [];
}

test("calls of several nodes are served in the order in which they joined", async () => {
  const nodes = [open(), open(), open()];
  const served: string[] = [];
  const first = await open().acquire(slot, { callId: "first" });
  const calls = [...Array(9).keys()].map((index) => `c-${index}`);
  const done: Promise<void>[] = [];
  for (const [index, callId] of calls.entries()) {
    const waiting = (nodes[index % 3] as MysqlSessionGate).acquire(slot, { callId });
    done.push(
      waiting.then(async (lease) => {
        served.push(callId);
        await lease.release();
      }),
    );
    await eventually(async () =>
      (await (nodes[0] as MysqlSessionGate).calls(slot)).includes(callId),
    );
  }
  await first.release();
  await Promise.all(done);
  expect(served).toEqual(calls);
  expect(await rowsLeft()).toEqual([0, 0]);
  for (const node of nodes) expect(node.claims.size).toBe(0);
});

test("a holder that stands still longer than its lease loses it, is told when it goes on, and cannot save", async () => {
  const child = spawnScript(holder, [inject("mysqlUrl"), prefix, "4000", "c"]);
  await child.line("held");
  process.kill(child.pid, "SIGSTOP");
  const gate = open();
  const lease = await gate.acquire(slot, { callId: "mine" });
  process.kill(child.pid, "SIGCONT");
  await child.line("lost LEASE_LOST");
  await child.line("save LEASE_LOST");
  await child.exited;
  expect(lease.lost.aborted).toBe(false);
  expect(await gate.calls(slot)).toEqual(["mine"]);
  await lease.release();
});

test("killed holders and killed waiters are passed over", async () => {
  const args = [inject("mysqlUrl"), prefix, "5000"];
  const first = spawnScript(holder, [...args, "first"]);
  await first.line("held");
  const second = spawnScript(holder, [...args, "second"]);
  await second.line("waiting");
  const gate = open();
  const waiting = gate.acquire(slot, { callId: "mine" });
  await eventually(async () => (await gate.calls(slot)).length === 3);
  await second.kill9();
  await first.kill9();
  const lease = await waiting;
  expect(await gate.calls(slot)).toEqual(["mine"]);
  await lease.release();
});

test("a lease that is renewed lasts as long as its holder wants", async () => {
  const held = await open(2_000).acquire(slot, { callId: "c" });
  const seen = new Set<string>();
  await eventually(async () => {
    const [row] = await rowsOf(
      pool,
      `SELECT CAST(lease_until AS CHAR) FROM ${prefix}slots WHERE k = ?`,
      [slotHash(slot)],
    );
    seen.add(String(row?.[0]));
    // Three renewals make up a lease, so these are two of them.
    return seen.size > 6;
  });
  expect(held.lost.aborted).toBe(false);
  await expect(open().acquire(slot, { callId: "d", wait: false })).rejects.toSatisfy(
    SessionBusyError.is,
  );
  await held.release();
});

test("a holder whose lease another took is told", async () => {
  const lease = await open(6_000).acquire(slot, { callId: "c" });
  await pool.query(`UPDATE ${prefix}slots SET lease_holder = 'another'`);
  await eventually(() => lease.lost.aborted);
  expect(LeaseLostError.is(lease.lost.reason)).toBe(true);
  expect(String(lease.lost.reason), "by asking, not by waiting").toContain(
    "another call has the session",
  );
  await lease.release();
  const [row] = await rowsOf(pool, `SELECT lease_holder FROM ${prefix}slots`);
  expect(String(row?.[0]), "its release took nothing from the other").toBe("another");
});

test("a pool of one connection serves a holder and those who wait", async () => {
  const single = createPool({ uri: inject("mysqlUrl"), connectionLimit: 1 });
  const gate = open(30_000, single);
  const order: number[] = [];
  await Promise.all(
    [...Array(10).keys()].map(async (index) => {
      const lease = await gate.acquire(slot, { callId: `c-${index}` });
      order.push(index);
      await lease.release();
    }),
  );
  expect(order).toEqual([...Array(10).keys()]);
  await gate.close();
  await single.end();
});

test("rows of calls that died long ago are removed when the next call waits", async () => {
  const gate = open();
  const held = await gate.acquire(slot, { callId: "c" });
  await pool.query(
    `INSERT INTO ${prefix}waiters (k, kind, token, call_id, alive_until) VALUES (?, 'waiter', 't', 'dead', UTC_TIMESTAMP(6) - INTERVAL 2 MINUTE)`,
    [Buffer.alloc(32)],
  );
  const waiting = gate.acquire(slot, { callId: "d" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  await eventually(async () => (await rowsLeft())[1] === 1);
  await held.release();
  await (await waiting).release();
  expect(await rowsLeft()).toEqual([0, 0]);
});

test("a waiting call of another node is not overtaken, also when the slot is free", async () => {
  const gate = open();
  await (await gate.acquire(slot, { callId: "first use" })).release();
  const held = await gate.acquire(slot, { callId: "c" });
  await pool.query(`UPDATE ${prefix}slots SET waiting = 1`);
  await pool.query(
    `INSERT INTO ${prefix}waiters (k, kind, token, call_id, alive_until) VALUES (?, 'waiter', 't', 'slow', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)`,
    [slotHash(slot)],
  );
  await held.release();
  expect(await gate.calls(slot)).toEqual(["slow"]);
  await expect(gate.acquire(slot, { callId: "d", wait: false })).rejects.toSatisfy(
    SessionBusyError.is,
  );
  const waiting = gate.acquire(slot, { callId: "d" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  expect(await gate.calls(slot)).toEqual(["slow", "d"]);
  await pool.query(`DELETE FROM ${prefix}waiters WHERE token = 't'`);
  await (await waiting).release();
  expect(await rowsLeft()).toEqual([0, 0]);
});

test("a call that waits at a gate that is closed is refused, and leaves the queue", async () => {
  const gate = open();
  const held = await open().acquire(slot, { callId: "c" });
  const waiting = gate.acquire(slot, { callId: "d" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  const refused = expect(waiting).rejects.toThrow(/closed/);
  await gate.close();
  await refused;
  expect(await gate.calls(slot)).toEqual(["c"]);
  await held.release();
});
