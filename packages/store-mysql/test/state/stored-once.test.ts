import { type Message, StateCorruptError, textOf, userMessage } from "@holdfast/core";
import { loadWhole, withBlobs } from "@holdfast/core/store-kit";
import { MysqlConversationLog, MysqlDistributedStore } from "@holdfast/store-mysql";
import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { slotHash } from "../../src/keys.js";
import { dropTables, freshTables, rowsOf, testPool } from "../log/fresh-tables.js";
import { watchedPool } from "../watched-pool.js";
import { withoutCompounds } from "../without-compounds.js";
import { RandomSession, sessionSteps } from "./random-session.js";
import { recordOf, slotNamed, turnWrite } from "./turns.js";

const pool = testPool();
const slot = slotNamed("s");
const k = slotHash(slot);
let tablePrefix = "";
let store: MysqlDistributedStore;

beforeEach(async () => {
  tablePrefix = await freshTables(pool);
  store = MysqlDistributedStore.from(pool, { tablePrefix });
});

afterEach(async () => {
  await store.close();
  await dropTables(pool, tablePrefix);
});

test("whatever is saved, edited, logged, forked and deleted, on servers with and without compounds, loads as it was saved", async () => {
  const other = MysqlDistributedStore.from(withoutCompounds(pool), { tablePrefix });
  const property = fc.asyncProperty(sessionSteps, async (steps) => {
    const session = new RandomSession([store, other]);
    for (const step of steps) {
      await session.take(step);
      await session.check();
    }
  });
  await fc.assert(property, { numRuns: scaled(20, 300) });
  await other.close();
});

test("the text of a turn is stored once, by saves of one statement and by others", async () => {
  const other = MysqlDistributedStore.from(withoutCompounds(pool), { tablePrefix });
  const texts = ["by a first save", "by a compound statement", "by a transaction"];
  const first = await store.stateStore.save(slot, said(null, 0, [texts[0] ?? ""]));
  const second = await store.stateStore.save(slot, said(first, 1, [texts[1] ?? ""]));
  await other.stateStore.save(slot, said(second, 2, [texts[2] ?? ""]));
  expect(await contextTexts()).toEqual(texts);
  const stored = await everyText();
  for (const text of texts) expect(stored.split(text), text).toHaveLength(2);
  await other.close();
});

test("a log deleted alone leaves the state whole, at the same revision", async () => {
  const revision = await store.stateStore.save(slot, said(null, 0, ["one", "two"]));
  const before = await loadWhole(store.stateStore, slot);
  // A log made by itself, as those of other programs.
  const log = new MysqlConversationLog({ pool, tablePrefix });
  expect(await log.delete(slot)).toBe(true);
  expect(await loadWhole(store.stateStore, slot)).toEqual(before);
  expect(await store.stateStore.load(slot, revision)).toBe("unchanged");
  await store.stateStore.save(slot, said(revision, 2, ["three"]));
  expect(await contextTexts()).toEqual(["one", "two", "three"]);
  expect((await store.log.read(slot)).map(({ seq }) => seq)).toEqual([1]);
});

test("a long log that two nodes delete while turns go on takes no text with it", async () => {
  const beside = Array.from({ length: 700 }, () => recordOf(userMessage("beside")));
  await store.log.append(slot, beside);
  let revision = await store.stateStore.save(slot, said(null, 0, ["m0"]));
  const expected = ["m0"];
  let isOver = false;
  const deleting = Promise.all(
    [store, store].map(async ({ log }) => {
      while (!isOver) await log.delete(slot);
    }),
  );
  try {
    for (let turn = 1; turn <= scaled(40, 400); turn++) {
      revision = await store.stateStore.save(slot, said(revision, turn, [`m${turn}`]));
      expected.push(`m${turn}`);
      expect(await contextTexts()).toEqual(expected);
    }
  } finally {
    isOver = true;
    await deleting;
  }
  await store.log.delete(slot);
  expect(await contextTexts()).toEqual(expected);
});

test("a delete that ends between its steps leaves every text where the state finds it", async () => {
  const records = Array.from({ length: 600 }, () => recordOf(userMessage("beside")));
  await store.log.append(slot, records);
  await store.stateStore.save(slot, said(null, 0, ["one", "two"]));
  for (let step = 1; step <= 8; step++) {
    let writes = 0;
    const isCut = (sql: string) => /^(UPDATE|DELETE|COMMIT)/.test(sql) && ++writes > step;
    const cut = watchedPool(pool, (sql) => (isCut(sql) ? { code: "ECONNRESET" } : undefined));
    const dying = MysqlDistributedStore.from(cut, { tablePrefix });
    await dying.log.delete(slot).catch(() => undefined);
    await dying.close();
    expect(await contextTexts(), `after ${step} statements`).toEqual(["one", "two"]);
  }
});

test("a message whose long text the log keeps apart stays in the state when the log goes", async () => {
  const text = "long".repeat(30_000);
  await store.stateStore.save(slot, said(null, 0, [text, "short"]));
  const [record] = await store.log.read(slot, { after: 0 });
  if (record === undefined) throw new Error("no record");
  expect(textOf((await withBlobs(store.log, slot, record)).message as Message)).toBe(text);
  await store.log.delete(slot);
  expect(await contextTexts()).toEqual([text, "short"]);
});

test.each(["at once", "in a transaction"])(
  "a message whose record was logged before is stored with the state, %s",
  async (how) => {
    const own = how === "at once" ? pool : withoutCompounds(pool);
    const node = MysqlDistributedStore.from(own, { tablePrefix });
    const first = await node.stateStore.save(slot, said(null, 0, ["one"]));
    const write = said(first, 1, ["two"]);
    await node.log.append(slot, write.log ?? []);
    await node.stateStore.save(slot, write);
    expect(await contextTexts()).toEqual(["one", "two"]);
    expect((await node.log.read(slot)).map(({ id }) => id)).toHaveLength(2);
    await node.close();
  },
);

test("a record that is gone, or another in its place, is damage and never another text", async () => {
  const revision = await store.stateStore.save(slot, said(null, 0, ["a secret", "two"]));
  const damages = [
    `UPDATE ${tablePrefix}log SET body = REPLACE(body, 'secret', 'public') WHERE record_seq = 1`,
    `UPDATE ${tablePrefix}log SET record_seq = 9 - record_seq`,
    `DELETE FROM ${tablePrefix}log`,
  ];
  for (const damage of damages) {
    await pool.query(damage);
    const error: unknown = await store.stateStore.load(slot).catch((reason: unknown) => reason);
    expect(StateCorruptError.is(error), String(error)).toBe(true);
    expect(String(error)).toContain('session "s"');
    expect(String(error)).not.toMatch(/secret|public/);
  }
  // As if the log had been emptied by hand, and others had been written since.
  await pool.query(`UPDATE ${tablePrefix}slots SET log_seq = 0`);
  await store.log.append(slot, [recordOf(userMessage("beside"))]);
  await expect(store.stateStore.load(slot)).rejects.toSatisfy(StateCorruptError.is);
  await store.log.delete(slot);
  await expect(store.stateStore.load(slot)).rejects.toSatisfy(StateCorruptError.is);
  expect(await store.stateStore.load(slot, revision)).toBe("unchanged");
  expect(await store.stateStore.delete(slot)).toBe(true);
  expect(await store.stateStore.load(slot)).toBeNull();
});

/** Statements of the release before, which checked the tables when it started. */
const before: Readonly<Record<string, string>> = {
  "takes a lease":
    "UPDATE {slots} SET lease_token = 't', lease_call = 'c', waiting = waiting WHERE k = ?",
  loads:
    "SELECT -1, head, rev, n FROM {slots} WHERE k = ? UNION ALL SELECT pos, body, NULL, NULL FROM {messages}",
  saves: "UPDATE {slots} SET rev = '9.x', head = '{}', n = 1 WHERE k = ?",
  "deletes a state": "UPDATE {slots} SET rev = NULL, head = NULL, n = 0 WHERE k = ?",
  appends:
    "INSERT INTO {log} (k, seq, id, call_id, at, kind, body) VALUES (?, 9, '', '', '', '', '')",
  "reads a log": "SELECT seq, body FROM {log} WHERE k = ? AND seq > 0 ORDER BY seq",
  // In one transaction with a DELETE that names no column of the log but the slot's.
  "deletes the last of a log":
    "DELETE FROM {slots} WHERE k = ? AND rev IS NULL AND log_seq = 0 AND lease_token IS NULL AND waiting = 0",
  "deletes a log, and sweeps": "DELETE FROM {log} WHERE k = ? ORDER BY seq LIMIT 500",
};

test.each(Object.entries(before))("the release before fails when it %s", async (_, statement) => {
  await store.stateStore.save(slot, said(null, 0, ["one"]));
  const sql = statement.replace(/\{(\w+)\}/g, `${tablePrefix}$1`);
  await expect(pool.execute(sql, [k])).rejects.toMatchObject({ code: "ER_BAD_FIELD_ERROR" });
  expect(await contextTexts()).toEqual(["one"]);
});

/** A save of messages that are logged with it. */
function said(expected: string | null, keep: number, texts: readonly string[]) {
  const append = texts.map((text) => userMessage(text));
  return turnWrite(slot, expected, keep, { append, log: append.map(recordOf) });
}

async function contextTexts(): Promise<string[]> {
  return ((await loadWhole(store.stateStore, slot))?.messages ?? []).map(textOf);
}

/** Everything that is stored under the prefix, as text. */
async function everyText(): Promise<string> {
  const tables = await rowsOf(
    pool,
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' AND LEFT(table_name, ?) = ?",
    [tablePrefix.length, tablePrefix],
  );
  const rows = await Promise.all(tables.map(([name]) => rowsOf(pool, `SELECT * FROM ${name}`)));
  return rows.flat(2).map(String).join("\n");
}
