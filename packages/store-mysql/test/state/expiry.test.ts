import { MysqlAgentStateStore } from "@holdfast/store-mysql";
import { eventually } from "@holdfast/testing";
import { afterEach, expect, test } from "vitest";
import { openDatabase } from "../../src/connection/open-database.js";
import { ExpiredSessions } from "../../src/expiry/expired-sessions.js";
import { slotHash } from "../../src/keys.js";
import { dropTables, freshPrefix, testPool } from "../log/fresh-tables.js";
import { textRecord } from "../log/log-records.js";
import { slotNamed, turnWrite } from "./turns.js";

const pool = testPool();
const ttlMs = 3_600_000;
let tablePrefix = freshPrefix();
const opened: MysqlAgentStateStore[] = [];

function open(): MysqlAgentStateStore {
  const store = new MysqlAgentStateStore({ pool, tablePrefix, ttlMs });
  opened.push(store);
  return store;
}

/** The sweep of another node. */
function sweeper(): ExpiredSessions {
  const database = openDatabase({
    pool,
    tablePrefix,
    ttlMs,
    migrate: true,
    commandTimeoutMs: 10_000,
  });
  return new ExpiredSessions(database);
}

afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  await dropTables(pool, tablePrefix);
  tablePrefix = freshPrefix();
});

/** Lets more than ttlMs pass for all that is stored. */
async function expireAll(columns = ["used_at", "updated_at", "listed_at"]): Promise<void> {
  const aged = columns.map((column) => `${column} = ${column} - INTERVAL 2 HOUR`);
  await pool.query(`UPDATE ${tablePrefix}slots SET ${aged.join(", ")}`);
}

async function rowsLeft(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of ["slots", "messages", "log", "blobs"]) {
    const [[row]] = (await pool.query(
      `SELECT COUNT(*) AS n FROM ${tablePrefix}${table}`,
    )) as unknown as [[{ n: number }]];
    if (row.n > 0) counts[table] = Number(row.n);
  }
  return counts;
}

test("two nodes that sweep at once remove every expired session, in small transactions, and no other", async () => {
  const store = open();
  for (let at = 0; at < 70; at++)
    await store.save(slotNamed(`old ${at}`), turnWrite(slotNamed(`old ${at}`), null, 0));
  const log = Array.from({ length: 1_300 }, (_, at) => textRecord(`r${at}`, "text"));
  await store
    .companions()
    .log.append(slotNamed("long"), [textRecord("x", "x".repeat(9_000_000)), ...log]);
  await expireAll();
  await store.save(slotNamed("new"), turnWrite(slotNamed("new"), null, 0));
  const nodes = [sweeper(), sweeper()];
  const sweep = async (node: ExpiredSessions) => {
    while (await node.sweep());
  };
  await Promise.all(nodes.map(sweep));
  // Where one node left a session to the other.
  await Promise.all(nodes.map(sweep));
  expect(await rowsLeft()).toEqual({ slots: 1, messages: 1, log: 1 });
  expect((await store.list()).slots.map(({ slot }) => slot.sessionId)).toEqual(["new"]);
});

test("a session with a call that holds or waits is not swept, whatever the times in its row", async () => {
  const store = open();
  const slot = slotNamed("busy");
  await store.save(slot, turnWrite(slot, null, 0));
  const { gate } = store.companions();
  const lease = await gate.acquire(slot, { callId: "holds" });
  const waiting = gate.acquire(slot, { callId: "waits" });
  await eventually(async () => (await gate.calls(slot)).length === 2);
  await expireAll();
  while (await sweeper().sweep());
  expect((await rowsLeft())["messages"]).toBe(1);
  // As if the holder had died long ago: the one that waits is alive.
  await expireAll(["lease_until"]);
  while (await sweeper().sweep());
  expect((await rowsLeft())["messages"]).toBe(1);
  await (await waiting).release();
  await lease.release();
});

test("a save of an earlier release, which does not know the column, keeps its session", async () => {
  const store = open();
  const slot = slotNamed("shared");
  await store.save(slot, turnWrite(slot, null, 0));
  await expireAll();
  // Columns as the earlier release writes them.
  await pool.execute(
    `UPDATE ${tablePrefix}slots SET updated_at = UTC_TIMESTAMP(6), used_at = NULL WHERE k = ?`,
    [slotHash(slot)],
  );
  while (await sweeper().sweep());
  expect(await store.load(slot)).not.toBeNull();
  expect((await store.list()).slots).toHaveLength(1);
});

test("a store that was not used sweeps nothing, and one without ttlMs never does", async () => {
  const store = new MysqlAgentStateStore({ pool, tablePrefix });
  opened.push(store);
  await store.save(slotNamed("s"), turnWrite(slotNamed("s"), null, 0));
  await expireAll();
  expect(await store.load(slotNamed("s"))).not.toBeNull();
  expect(await rowsLeft()).toEqual({ slots: 1, messages: 1, log: 1 });
});
