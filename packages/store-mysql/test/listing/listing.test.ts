import { InvalidInputError } from "@holdfast/core";
import { MysqlAgentStateStore } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { agentHash, slotHash } from "../../src/keys.js";
import { IS_SESSION, WAITING_INDEX } from "../../src/listing/list-slots.js";
import { dropTables, freshPrefix, rowsOf, testPool } from "../log/fresh-tables.js";
import { slotNamed, turnWrite } from "../state/turns.js";

const pool = testPool();
let prefix: string;
let store: MysqlAgentStateStore;

beforeEach(() => {
  prefix = freshPrefix();
  store = new MysqlAgentStateStore({ pool, tablePrefix: prefix });
});
afterEach(() => dropTables(pool, prefix));

test("a listing says when a session was saved and how many messages it has, to the millisecond", async () => {
  const slot = slotNamed("s");
  const start = Date.now();
  await store.save(slot, turnWrite(slot, null, 0));
  const [info] = (await store.list()).slots;
  expect(info).toMatchObject({ slot, messages: 1 });
  expect(info?.updatedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  // The server's clock is this machine's in tests; a minute would show a wrong time zone.
  expect(Math.abs(Date.parse(info?.updatedAt ?? "") - start)).toBeLessThan(60_000);
});

test("sessions saved while their listing is paged come at its end, also those saved right before", async () => {
  const slots = Array.from({ length: 9 }, (_, index) => slotNamed(`s${index}`));
  const revisions = new Map<string, string>();
  const save = async (name: string): Promise<void> => {
    const revision = revisions.get(name) ?? null;
    const write = turnWrite(slotNamed(name), revision, revision === null ? 0 : 1);
    revisions.set(name, await store.save(slotNamed(name), write));
  };
  for (const slot of slots) await save(slot.sessionId);
  await pool.query(`UPDATE ${prefix}slots SET listed_at = listed_at - INTERVAL 1 HOUR`);
  const page = (cursor?: string) => store.list({ agentId: "agent", limit: 2, cursor });
  const namesOf = ({ slots }: Awaited<ReturnType<typeof page>>) =>
    slots.map(({ slot }) => slot.sessionId);
  const first = await page();
  const oldest = "s0";
  // Set before the first page was read and visible only now, as by a save that was under way.
  await pool.execute(
    `UPDATE ${prefix}slots SET listed_at = UTC_TIMESTAMP(6) - INTERVAL 3 SECOND WHERE k = ?`,
    [slotHash(slotNamed(oldest))],
  );
  await save("s4");
  const shown = namesOf(first);
  for (let cursor = first.cursor; cursor !== undefined; ) {
    const next = await page(cursor);
    shown.push(...namesOf(next));
    cursor = next.cursor;
  }
  expect(shown.slice(0, -2)).toEqual(["s8", "s7", "s6", "s5", "s3", "s2", "s1"]);
  expect(shown.slice(-2).sort()).toEqual(["s0", "s4"]);
});

test("sessions of this very moment come once, page by page", async () => {
  const slots = Array.from({ length: 7 }, (_, index) => slotNamed(`s${index}`));
  for (const slot of slots) await store.save(slot, turnWrite(slot, null, 0));
  for (const limit of [1, 2, 3, 6, 7, 8]) {
    const shown: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.list({ limit, cursor });
      expect(page.slots.length).toBeLessThanOrEqual(limit);
      shown.push(...page.slots.map(({ slot }) => slot.sessionId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(shown).toEqual(["s6", "s5", "s4", "s3", "s2", "s1", "s0"]);
  }
});

test("a cursor of the release before is continued, and misses nothing", async () => {
  const slots = Array.from({ length: 5 }, (_, index) => slotNamed(`s${index}`));
  for (const slot of slots) await store.save(slot, turnWrite(slot, null, 0));
  const [row] = await rowsOf(
    pool,
    `SELECT DATE_FORMAT(listed_at, '%Y-%m-%d %H:%i:%s.%f'), HEX(k) FROM ${prefix}slots WHERE k = ?`,
    [slotHash(slotNamed("s3"))],
  );
  const cursor = Buffer.from(`${row?.[0]}${String(row?.[1]).toLowerCase()}`).toString("base64url");
  const { slots: rest } = await store.list({ cursor });
  const names = rest.map(({ slot }) => slot.sessionId);
  expect(names.slice(0, 3)).toEqual(["s2", "s1", "s0"]);
  expect(names.slice(3).sort(), "those before it again").toEqual(["s3", "s4"]);
});

test("a listing of unfinished sessions reads an index, not the sessions", async () => {
  const slot = slotNamed("s");
  await store.save(slot, turnWrite(slot, null, 0, { info: { unfinished: true } }));
  const [row] = await rowsOf(
    pool,
    `EXPLAIN SELECT k FROM ${prefix}slots WHERE unfinished = 1 AND ${IS_SESSION} ORDER BY listed_at DESC, k DESC LIMIT 5`,
  );
  expect(String(row)).toContain("by_unfinished");
  expect(String(row)).not.toContain("filesort");
});

test("a listing of an agent's waiting sessions reads those, in order, however many others it has", async () => {
  for (let index = 0; index < 40; index++) {
    const slot = slotNamed(`s${index}`);
    await store.save(slot, turnWrite(slot, null, 0, { info: { waiting: index % 20 === 0 } }));
  }
  const query = `SELECT k FROM ${prefix}slots${WAITING_INDEX} WHERE awaits_answer = 1 AND agent = ? AND ${IS_SESSION} ORDER BY listed_at DESC, k DESC LIMIT 5`;
  const [row] = await rowsOf(pool, `EXPLAIN ${query}`, [agentHash("agent")]);
  expect(String(row)).toContain("by_awaits_answer");
  expect(String(row)).not.toContain("filesort");
  // One connection, whose own counters say what a page reads.
  const single = createPool({ uri: inject("mysqlUrl"), connectionLimit: 1 });
  const reads = async (): Promise<number> => {
    const rows = await rowsOf(
      single,
      "SHOW SESSION STATUS WHERE Variable_name IN ('Handler_read_next', 'Handler_read_prev')",
    );
    return rows.reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const lister = new MysqlAgentStateStore({ pool: single, tablePrefix: prefix });
  const page = () => lister.list({ agentId: "agent", waiting: true });
  await page();
  const before = await reads();
  expect((await page()).slots).toHaveLength(2);
  expect((await reads()) - before).toBeLessThan(6);
  await single.end();
});

test("a session whose wait the release before has ended is not listed", async () => {
  const slot = slotNamed("s");
  await store.save(slot, turnWrite(slot, null, 0, { info: { waiting: true } }));
  expect((await store.list({ waiting: true })).slots).toMatchObject([{ slot }]);
  // As its save does, which knows nothing of the column.
  await pool.query(`UPDATE ${prefix}slots SET info = '{"waiting":false}'`);
  expect(await store.list({ waiting: true })).toEqual({ slots: [] });
});

test("a log alone is no session, until a call has said something", async () => {
  const slot = slotNamed("logged");
  const { log, gate } = store.companions();
  const at = new Date().toISOString();
  await log.append(slot, [
    { v: 1, id: "1", callId: "c", at, kind: "mark", mark: { name: "call_start" } },
  ]);
  await pool.query(`UPDATE ${prefix}slots SET listed_at = listed_at - INTERVAL 1 HOUR`);
  expect(await store.list()).toEqual({ slots: [] });
  const put = { id: "e", kind: "input", callId: "c", at, body: {} } as const;
  const lease = await gate.acquire(slot, { callId: "c", put });
  const start = Date.now();
  const { slots } = await store.list({ agentId: slot.agentId, userId: slot.userId });
  expect(slots).toMatchObject([{ slot, messages: 0, info: { unfinished: true } }]);
  expect(Math.abs(Date.parse(slots[0]?.updatedAt ?? "") - start)).toBeLessThan(60_000);
  await lease.release([put.id]);
  expect(await store.list()).toEqual({ slots: [] });
});

test("a session that the release before deleted is not listed for the facts it leaves", async () => {
  const slot = slotNamed("s");
  const info = { unfinished: true, title: "old" };
  await store.save(slot, turnWrite(slot, null, 0, { info }));
  // As its statement does, which knows nothing of the columns beside the head.
  await pool.query(
    `UPDATE ${prefix}slots SET rev = NULL, state_head = NULL, n = 0, ops = '', updated_at = NULL`,
  );
  expect(await store.list({ unfinished: true })).toEqual({ slots: [] });
  const at = new Date().toISOString();
  await store.inbox.put(slot, { id: "m", kind: "interrupt", callId: "c", at, body: {} });
  expect(await store.list()).toEqual({ slots: [] });
  await store.inbox.put(slot, { id: "e", kind: "input", callId: "c", at, body: {} });
  expect((await store.list()).slots).toMatchObject([{ slot, info: { unfinished: true } }]);
  expect((await store.list()).slots[0]?.info?.title).toBeUndefined();
});

test("a cursor that is none of ours is refused", async () => {
  for (const text of ["", "x", "2026-01-01", "{}", '{"pin":"x","at":null,"k":"","shown":""}']) {
    const cursor = Buffer.from(text).toString("base64url");
    await expect(store.list({ cursor })).rejects.toSatisfy(InvalidInputError.is);
  }
});
