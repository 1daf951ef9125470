import { type InboxEntry, loadWhole, uuidv7 } from "@holdfast/core/store-kit";
import { MysqlDistributedStore } from "@holdfast/store-mysql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { dropTables, freshPrefix, rowsOf, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";
import { withoutCompounds } from "../without-compounds.js";

const pool = testPool();
const slot = slotNamed("s");
let prefix: string;
let store: MysqlDistributedStore;
let revision: string;

beforeEach(async () => {
  prefix = freshPrefix();
  store = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  revision = await store.stateStore.save(slot, turnWrite(slot, null, 0));
});
afterEach(async () => {
  await store.close();
  await dropTables(pool, prefix);
});

function entry(text: string, kind: InboxEntry["kind"] = "input"): InboxEntry {
  return { id: uuidv7(), kind, callId: "c", at: new Date().toISOString(), body: { text } };
}

/** Number of entries in rows of their own, whether the slot's row has some, and whether it is unfinished. */
async function places(): Promise<unknown> {
  const sql = `SELECT (SELECT COUNT(*) FROM ${prefix}inbox), inbox IS NOT NULL, unfinished FROM ${prefix}slots`;
  return (await rowsOf(pool, sql))[0];
}

async function isUnfinished(): Promise<boolean> {
  const { slots } = await store.stateStore.list();
  return slots[0]?.info?.unfinished === true;
}

test("the input of a call is in a row of its own until its save, and the session unfinished", async () => {
  const put = entry("question");
  const lease = await store.gate.acquire(slot, { callId: "c", put });
  expect(lease.inbox).toEqual([put]);
  expect(await places()).toEqual([1, 0, 1]);
  expect(await isUnfinished()).toBe(true);
  const fields = { lease: lease.token, release: true, takes: [put.id], info: {} };
  await store.stateStore.save(slot, turnWrite(slot, revision, 1, fields));
  await lease.release();
  expect(await places()).toEqual([0, 0, 0]);
  expect(await isUnfinished()).toBe(false);
});

test("entries come in the order in which they were put, wherever they are", async () => {
  const [first, word, second] = [entry("first"), entry("word", "interrupt"), entry("second")];
  const lease = await store.gate.acquire(slot, { callId: "c", put: first });
  await store.stateStore.inbox.put(slot, word);
  await lease.release();
  const next = await store.gate.acquire(slot, { callId: "d", put: second });
  expect(next.inbox).toEqual([first, word, second]);
  expect(await places()).toEqual([1, 1, 1]);
  // The first is taken, and what stays is still an input.
  const fields = { lease: next.token, takes: [first.id], info: {} };
  revision = await store.stateStore.save(slot, turnWrite(slot, revision, 1, fields));
  expect(await store.stateStore.inbox.read(slot)).toEqual([word, second]);
  expect(await places()).toEqual([0, 1, 1]);
  const rest = { lease: next.token, release: true, takes: [word.id, second.id], info: {} };
  await store.stateStore.save(slot, turnWrite(slot, revision, 2, rest));
  await next.release();
  expect(await places()).toEqual([0, 0, 0]);
});

test("an input that a save leaves keeps the session unfinished, also when the save is a transaction", async () => {
  const [input, other] = [entry("first"), entry("other", "interrupt")];
  const lease = await store.gate.acquire(slot, { callId: "c", put: input });
  await store.stateStore.inbox.put(slot, other);
  for (const messages of [1, 40]) {
    const append = Array.from(
      { length: messages },
      (_, index) => turnWrite(slot, null, index).append[0],
    );
    const fields = { lease: lease.token, takes: [other.id], info: {}, append, log: [] };
    const stored = await loadWhole(store.stateStore, slot);
    const write = turnWrite(slot, revision, stored?.messages.length ?? 0, fields as never);
    revision = await store.stateStore.save(slot, write);
    expect(await places()).toEqual([1, 0, 1]);
  }
  await lease.release([input.id]);
  expect(await places()).toEqual([0, 0, 0]);
});

test("a deleted state takes the input of its call along", async () => {
  const lease = await store.gate.acquire(slot, { callId: "c", put: entry("question") });
  await store.stateStore.delete(slot);
  expect(await store.stateStore.inbox.read(slot)).toEqual([]);
  await lease.release();
  expect(await rowsOf(pool, `SELECT k FROM ${prefix}inbox`)).toEqual([]);
});

test("a lease that was given back is not revived by a renewal that was under way, and its row can go", async () => {
  const fresh = slotNamed("fresh");
  const lease = await store.gate.acquire(fresh, { callId: "c" });
  await store.log.append(fresh, turnWrite(fresh, null, 0).log ?? []);
  await lease.release();
  const renewing = `UPDATE ${prefix}slots SET lease_until = UTC_TIMESTAMP(6) + INTERVAL 30 SECOND WHERE lease_until > '1000-01-01 00:00:00' AND lease_holder = ?`;
  const [result] = await pool.execute(renewing, [lease.token]);
  expect(result).toMatchObject({ affectedRows: 0 });
  await store.log.delete(fresh);
  expect(await rowsOf(pool, `SELECT 1 FROM ${prefix}slots WHERE session_id = 'fresh'`)).toEqual([]);
});

test("a node that keeps entries in the slot's row finds and removes those of nodes that do not", async () => {
  const earlier = MysqlDistributedStore.from(withoutCompounds(pool), { tablePrefix: prefix });
  const [first, second] = [entry("first"), entry("second")];
  const lease = await store.gate.acquire(slot, { callId: "c", put: first });
  await lease.release();
  const next = await earlier.gate.acquire(slot, { callId: "d", put: second });
  expect(next.inbox).toEqual([first, second]);
  const takes = [first.id, second.id];
  const fields = { lease: next.token, release: true, takes, info: {} };
  await earlier.stateStore.save(slot, turnWrite(slot, revision, 1, fields));
  await next.release();
  expect(await places()).toEqual([0, 0, 0]);
  await earlier.close();
});
