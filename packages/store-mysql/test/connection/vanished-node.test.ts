import { StoreError, userMessage } from "@holdfast/core";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { eventually } from "@holdfast/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, proxiedPool, rowsOf, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";

const pool = testPool();
const slot = slotNamed("s");
let prefix: string;
let network: Awaited<ReturnType<typeof proxiedPool>>;
/** A node whose machine vanishes, and one that goes on. */
let vanishing: MysqlDistributedStore;
let other: MysqlDistributedStore;

beforeEach(async () => {
  prefix = freshPrefix();
  network = await proxiedPool();
  vanishing = MysqlDistributedStore.from(network.pool, { tablePrefix: prefix });
  other = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
});
afterEach(async () => {
  await network[Symbol.asyncDispose]();
  await vanishing.close();
  await other.close();
  await dropTables(pool, prefix);
});

/** Loses everything behind the given request with `text`, without a word to the server: no FIN, no RST. */
function vanishBehind(text: string, time: number): void {
  let times = 0;
  network.proxy.losesReply = (request) => {
    if (request.includes(text) && ++times === time) network.proxy.mode = "hold";
    return false;
  };
}

test("a node that vanishes between its update and its commit does not lock the session", async () => {
  const revision = await vanishing.stateStore.save(slot, turnWrite(slot, null, 0));
  // More messages than a save of one statement has.
  const append = Array.from({ length: 5 }, () => userMessage("m"));
  const write = turnWrite(slot, revision, 1, { append });
  // Its first statement writes the head, the second this message.
  vanishBehind(write.append[0]?.id ?? "", 1);
  const failure = await vanishing.stateStore.save(slot, write).catch((error: unknown) => error);
  expect(StoreError.is(failure)).toBe(true);
  // Its row lock outlives its connection; the server ends both.
  const lease = await eventually(() =>
    other.gate.acquire(slot, { callId: "c", known: () => revision }),
  );
  expect(lease.loaded, "nothing of the save was kept").toBe("unchanged");
  await other.stateStore.save(
    slot,
    turnWrite(slot, revision, 1, { lease: lease.token, release: true }),
  );
});

test("a node that vanishes while it queues does not lock the session", async () => {
  await other.stateStore.save(slot, turnWrite(slot, null, 0));
  const held = await other.gate.acquire(slot, { callId: "holder" });
  // The statement that finds the slot taken names it first, then the one that joins the queue.
  vanishBehind("call-that-vanishes", 2);
  const waiting = vanishing.gate.acquire(slot, { callId: "call-that-vanishes" });
  const failed = waiting.catch((error: unknown) => error);
  await eventually(() => network.proxy.mode === "hold");
  await held.release();
  const lease = await eventually(() => other.gate.acquire(slot, { callId: "next" }));
  await lease.release();
  await network[Symbol.asyncDispose]();
  await failed;
});

test("a connection is told to give up locks before a command does", async () => {
  await other.stateStore.load(slot);
  const [row] = await rowsOf(
    pool,
    "SELECT @@innodb_lock_wait_timeout, @@idle_transaction_timeout, @@SESSION.wait_timeout = @@GLOBAL.wait_timeout",
  );
  expect(row, "and idle connections are left alone where transactions can be bounded").toEqual([
    ...[3, 5, 1],
  ]);
});
