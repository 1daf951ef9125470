import {
  LeaseLostError,
  StoreError,
  StoreUnavailableError,
  UnknownOutcomeError,
} from "@holdfast/core";
import { MysqlDistributedStore, MysqlSessionGate } from "@holdfast/store-mysql";
import { eventually } from "@holdfast/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";

/** Command of the protocol that runs a prepared statement. */
const EXECUTE = 0x17;

const pool = testPool();
const slot = slotNamed("held");
let prefix: string;
let network: Awaited<ReturnType<typeof proxiedPool>>;
let store: MysqlDistributedStore;
let near: MysqlSessionGate;
let far: MysqlSessionGate;

beforeEach(async () => {
  prefix = freshPrefix();
  network = await proxiedPool();
  store = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  near = store.gate;
  far = new MysqlSessionGate({ pool: network.pool, tablePrefix: prefix, commandTimeoutMs: 2_000 });
  await (await near.acquire(slot, { callId: "first use" })).release();
  await (await far.acquire(slot, { callId: "first use" })).release();
});
afterEach(async () => {
  await store.close();
  await far.close();
  await network[Symbol.asyncDispose]();
  await dropTables(pool, prefix);
});

/** Loses the replies to the first `times` requests that hold `text`. */
function loseReplies(text: string, times = 1): () => number {
  let lost = 0;
  network.proxy.losesReply = (request) => request.includes(text) && lost++ < times;
  return () => lost;
}

test.each(["new", "old"])(
  "a call on a session that is %s has its lease although the answer was lost",
  async (age) => {
    if (age === "old") await store.stateStore.save(slot, turnWrite(slot, null, 0));
    const lost = loseReplies("call-with-a-lost-reply");
    const lease = await far.acquire(slot, { callId: "call-with-a-lost-reply" });
    expect(lost()).toBeGreaterThan(0);
    expect(await near.calls(slot)).toEqual(["call-with-a-lost-reply"]);
    expect(lease.lost.aborted).toBe(false);
    expect(lease.loaded === null).toBe(age === "new");
    network.proxy.losesReply = undefined;
    await lease.release();
    expect(await near.calls(slot)).toEqual([]);
  },
);

test("a call that lost the answer to joining waits once, and one that lost the answer to its turn has it", async () => {
  const held = await near.acquire(slot, { callId: "c-1" });
  loseReplies("COMMIT");
  const waiting = far.acquire(slot, { callId: "c-2" });
  await eventually(async () => (await near.calls(slot)).length === 2);
  const behind = near.acquire(slot, { callId: "c-3" });
  await eventually(async () => (await near.calls(slot)).length === 3);
  expect(await near.calls(slot)).toEqual(["c-1", "c-2", "c-3"]);
  const lost = loseReplies("COMMIT");
  await held.release();
  const lease = await waiting;
  expect(lost()).toBeGreaterThan(0);
  network.proxy.losesReply = undefined;
  expect(await near.calls(slot)).toEqual(["c-2", "c-3"]);
  await lease.release();
  await (await behind).release();
  const [row] = await rowsOf(pool, `SELECT COUNT(*) FROM ${prefix}waiters`);
  expect(row).toEqual([0]);
});

test("a lease whose grant was answered late counts from the answer, on the server as well", async () => {
  const held = await near.acquire(slot, { callId: "c-1" });
  const waiting = far.acquire(slot, { callId: "takes-its-turn" });
  await eventually(async () => (await near.calls(slot)).length === 2);
  let isLost = false;
  let preparedOn: number | undefined;
  network.proxy.losesReply = (request, connection) => {
    // The statement that takes the turn, which is prepared when it is used first.
    if (request.includes("v_beside")) preparedOn = connection;
    isLost ||= request[4] === EXECUTE && connection === preparedOn;
    return isLost;
  };
  const leaseUntil = async () => {
    const [row] = await rowsOf(
      pool,
      `SELECT CAST(lease_call AS CHAR), CAST(lease_until AS CHAR) FROM ${prefix}slots`,
    );
    return row?.[0] === "takes-its-turn" ? String(row[1]) : undefined;
  };
  await held.release();
  const taken = await eventually(leaseUntil, { timeoutMs: 20_000 });
  network.proxy.losesReply = undefined;
  const lease = await waiting;
  expect(isLost).toBe(true);
  expect((await leaseUntil()) ?? "").not.toBe(taken);
  await lease.release();
});

test("a call that never gets an answer fails, and its lease is given back when the network is", async () => {
  network.proxy.losesReply = (request) => request.includes("call-without-answers");
  const failure = await far
    .acquire(slot, { callId: "call-without-answers" })
    .catch((error) => error);
  // The call did not begin, whatever became of its lease.
  expect(StoreUnavailableError.is(failure)).toBe(true);
  // Its release names the token only, and gets through.
  await eventually(async () => (await near.calls(slot)).length === 0);
});

test("a server that does not answer is waited for once, not once per thing to find out", async () => {
  // Connections for all of it, so that nothing fails for want of one.
  await Promise.all([1, 2, 3, 4].map(() => far.calls(slot)));
  network.proxy.mode = "hold";
  const acquiring = far.acquire(slot, { callId: "c" }).catch((error: unknown) => error);
  const twoInTurn = async (): Promise<string> => {
    for (let index = 0; index < 2; index++) await far.calls(slot).catch(() => undefined);
    return "two commands took less";
  };
  const failure = await Promise.race([acquiring, twoInTurn()]);
  expect(StoreError.is(failure), String(failure)).toBe(true);
});

test("a call that waits puts up with an outage shorter than its ticket", async () => {
  const held = await near.acquire(slot, { callId: "c-1" });
  const waiting = far.acquire(slot, { callId: "c-2" });
  await eventually(async () => (await near.calls(slot)).length === 2);
  network.proxy.mode = "hold";
  await held.release();
  network.proxy.reset();
  network.proxy.mode = "pass";
  await (await waiting).release();
  expect(await near.calls(slot)).toEqual([]);
});

test("a holder that cannot reach the server counts its lease as lost when its time is over", async () => {
  const gate = new MysqlSessionGate({
    pool: network.pool,
    tablePrefix: prefix,
    leaseMs: 4_000,
    commandTimeoutMs: 2_000,
  });
  const lease = await gate.acquire(slot, { callId: "c-1" });
  network.proxy.mode = "hold";
  const next = await near.acquire(slot, { callId: "c-2" });
  expect(lease.lost.aborted, "known by the time another can have it").toBe(true);
  expect(LeaseLostError.is(lease.lost.reason)).toBe(true);
  await next.release();
  await gate.close();
});

/** Resolves when a renewal of the lease was asked for and answered. */
async function renewalAnswered(token: string): Promise<void> {
  let renewals = 0;
  network.proxy.losesReply = (request) => {
    if (request.includes(token)) renewals++;
    return false;
  };
  await eventually(() => renewals > 0);
  // Asked later, answered later.
  await far.calls(slot);
  await far.calls(slot);
  network.proxy.losesReply = undefined;
}

test("a lease that a save gives back is not taken for lost when its renewal is answered first", async () => {
  const parts = MysqlDistributedStore.from(network.pool, { tablePrefix: prefix, leaseMs: 6_000 });
  const lease = await parts.gate.acquire(slot, { callId: "c-1" });
  await parts.gate.whileReleasing(lease.token, async () => {
    await pool.query(`UPDATE ${prefix}slots SET lease_holder = NULL, lease_until = NULL`);
    await renewalAnswered(lease.token);
  });
  expect(lease.lost.aborted).toBe(false);
  await parts.close();
});

test("a lease that a save gave back is not taken for lost, although the answer to the save was", async () => {
  const parts = MysqlDistributedStore.from(network.pool, { tablePrefix: prefix, leaseMs: 6_000 });
  const lease = await parts.gate.acquire(slot, { callId: "c-1" });
  const write = turnWrite(slot, null, 0, { lease: lease.token, release: true });
  let lost = 0;
  // Executed, not only prepared.
  network.proxy.losesReply = (request) =>
    request[4] === EXECUTE && request.includes("message 0") && lost++ === 0;
  const failure = await parts.stateStore.save(slot, write).catch((error) => error);
  expect(UnknownOutcomeError.is(failure)).toBe(true);
  expect(await near.calls(slot), "it was applied").toEqual([]);
  await renewalAnswered(lease.token);
  expect(lease.lost.aborted).toBe(false);
  await parts.stateStore.save(slot, write);
  await lease.release();
  expect(lease.lost.aborted).toBe(false);
  await parts.close();
});
