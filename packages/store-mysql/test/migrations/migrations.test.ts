import {
  ConfigurationError,
  StateTooNewError,
  StoreUnavailableError,
  userMessage,
} from "@holdfast/core";
import { logRecordText } from "@holdfast/core/store-kit";
import {
  MysqlAgentStateStore,
  MysqlDistributedStore,
  migrate,
  migrationStatements,
} from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { slotHash, tableNames } from "../../src/keys.js";
import {
  migrations,
  migrationsTable,
  newestMigration,
  recordStatement,
} from "../../src/migrations/migrations.js";
import { SLOT_COLUMNS, slotValues } from "../../src/state/state-row.js";
import { dropTables, freshPrefix, rowsOf, testPool } from "../log/fresh-tables.js";
import { headOf, recordOf, turnWrite } from "../state/turns.js";

const pool = testPool();
const slot = { agentId: "a", userId: null, sessionId: "s" };
let prefix: string;

beforeEach(() => {
  prefix = freshPrefix();
});
afterEach(() => dropTables(pool, prefix));

async function tablesMade(): Promise<number> {
  const rows = await rowsOf(
    pool,
    "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() AND LEFT(table_name, ?) = ?",
    [prefix.length, prefix],
  );
  return Number(rows[0]?.[0]);
}

test("of many first uses in one process one migrates", async () => {
  const stores = [1, 2, 3].map(() => new MysqlAgentStateStore({ pool, tablePrefix: prefix }));
  expect(await tablesMade(), "constructing does no I/O").toBe(0);
  await Promise.all(stores.map((store) => store.load(slot)));
  expect(await migrate(pool, { tablePrefix: prefix })).toEqual({ applied: [], leftOut: [] });
});

test("migrate says what it did", async () => {
  const report = await migrate(pool, { tablePrefix: prefix });
  expect(report).toEqual({ applied: migrations.map(({ number }) => number), leftOut: [] });
  expect(report.applied.at(-1)).toBe(newestMigration);
});

test("with migrate: false nothing is made, and what is missing is named", async () => {
  const store = new MysqlAgentStateStore({ pool, tablePrefix: prefix, migrate: false });
  const failure = await store.load(slot).catch((error: unknown) => error);
  expect(ConfigurationError.is(failure)).toBe(true);
  expect(String(failure)).toContain(`migration 1 (tables) of the tables ${prefix}*`);
  expect(await tablesMade()).toBe(0);
  for (const statement of migrationStatements(prefix)) await pool.query(statement);
  expect(await store.load(slot), "it looks again after a failure").toBe(null);
});

test("the statements for administrators may be run twice", async () => {
  for (const statement of [...migrationStatements(prefix), ...migrationStatements(prefix)])
    await pool.query(statement);
  expect(await migrate(pool, { tablePrefix: prefix })).toEqual({ applied: [], leftOut: [] });
});

test("tables a newer release changed are used while it allows that, and left alone when not", async () => {
  await migrate(pool, { tablePrefix: prefix });
  const record = `INSERT INTO ${prefix}migrations (number, name, min_reader, applied_at) VALUES (?, 'x', ?, NOW(6))`;
  await pool.execute(record, [98, 1]);
  expect(await new MysqlAgentStateStore({ pool, tablePrefix: prefix }).load(slot)).toBe(null);
  await pool.execute(record, [99, 99]);
  const fresh = createPool(inject("mysqlUrl"));
  for (const options of [{}, { migrate: false }]) {
    const store = new MysqlAgentStateStore({ pool: fresh, tablePrefix: prefix, ...options });
    await expect(store.load(slot)).rejects.toSatisfy(StateTooNewError.is);
  }
  await expect(migrate(fresh, { tablePrefix: prefix })).rejects.toSatisfy(StateTooNewError.is);
  await fresh.end();
});

test("sessions of the release before go on, and its nodes fail with all that could harm them", async () => {
  const t = tableNames(prefix);
  await runBefore("stored once");
  const [said, revision] = [userMessage("of the release before"), `1.${"a".repeat(32)}`];
  const record = { ...recordOf(said), seq: 1 };
  const bytes = (value: unknown) => Buffer.from(JSON.stringify(value), "utf8");
  // As the release before made rows.
  await pool.execute(
    `INSERT INTO ${t.slots} (${SLOT_COLUMNS}, rev, head, n, log_seq, updated_at, listed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`,
    [...slotValues(slot), Buffer.from(revision, "utf8"), bytes(headOf(slot))],
  );
  await pool.execute(`INSERT INTO ${t.messages} (k, pos, body) VALUES (?, 0, ?)`, [
    slotHash(slot),
    bytes(said),
  ]);
  const insert = `INSERT INTO ${t.log} (k, seq, id, call_id, at, kind, body) VALUES (?, 1, ?, 'call', ?, 'message', ?)`;
  const body = Buffer.from(logRecordText(record), "utf8");
  await pool.execute(insert, [slotHash(slot), said.id, said.createdAt, body]);

  const store = MysqlDistributedStore.from(pool, { tablePrefix: prefix });
  expect(await store.stateStore.load(slot)).toMatchObject({ revision, messages: [said] });
  expect(await store.log.read(slot)).toEqual([record]);
  const write = turnWrite(slot, revision, 1);
  await store.stateStore.save(slot, write);
  await expect(pool.execute(insert, [slotHash(slot), "other", "", body])).rejects.toMatchObject({
    code: "ER_BAD_FIELD_ERROR",
  });
  expect((await store.log.read(slot)).map(({ seq }) => seq)).toEqual([1, 2]);
  const hits = await store.log.search({ agentId: "a", userId: null, sessionId: "s", text: "e" });
  expect(hits.hits).toHaveLength(2);
  expect(await store.log.delete(slot)).toBe(true);
  expect(await store.stateStore.load(slot)).toMatchObject({ messages: [said, ...write.append] });
  await store.close();
});

test("the migration to references changes no row, however many there are", async () => {
  const t = tableNames(prefix);
  await runBefore("stored once");
  const [storedOnce] = migrations.filter(({ name }) => name === "stored once");
  const changes = (storedOnce?.statements(t) ?? []).filter((sql) => sql.includes("ALTER"));
  expect(changes).toHaveLength(3);
  for (const change of changes) {
    const [, sql] = /'(ALTER [^']*)'/.exec(change) ?? [];
    // The server refuses the statement if it would have to touch a row.
    await pool.query(`${sql}, ALGORITHM=INSTANT`);
  }
});

/** Runs the migrations before one. */
async function runBefore(name: string): Promise<void> {
  const t = tableNames(prefix);
  const last = migrations.findIndex((migration) => migration.name === name);
  const connection = await pool.getConnection();
  await connection.query(migrationsTable(t.migrations));
  for (const migration of migrations.slice(0, last))
    for (const statement of [...migration.statements(t), recordStatement(t.migrations, migration)])
      await connection.query(statement);
  connection.release();
}

test("sessions that wait already are found after the migration that indexes them, which may run twice", async () => {
  const t = tableNames(prefix);
  const [indexing] = migrations.filter(({ name }) => name === "waiting");
  await runBefore("waiting");
  const connection = await pool.getConnection();
  const infos = {
    asks: '{"unfinished":false,"waiting":true,"counts":{"messages":1}}',
    "asks in other words": '{"title":"漢字🌤 \\" \\\\","waiting" : true}',
    "does not": '{"waiting":false,"title":"\\"waiting\\":true","metadata":{"waiting":true}}',
    damaged: '{"waiting":true',
    "of no state": '{"waiting":true}',
    "says nothing": null,
  };
  for (const [sessionId, info] of Object.entries(infos))
    await connection.execute(
      `INSERT INTO ${t.slots} (${SLOT_COLUMNS}, rev, head, updated_at, listed_at, info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), ?)`,
      [
        ...slotValues({ ...slot, sessionId }),
        sessionId === "of no state" ? null : Buffer.from(`1.${"a".repeat(32)}`, "utf8"),
        Buffer.from(JSON.stringify(headOf(slot)), "utf8"),
        info === null ? null : Buffer.from(info, "utf8"),
      ],
    );
  const store = new MysqlAgentStateStore({ pool, tablePrefix: prefix });
  const listed = async (): Promise<string[]> =>
    (await store.list({ waiting: true })).slots.map((each) => each.slot.sessionId).sort();
  expect(await listed()).toEqual(["asks", "asks in other words"]);
  const revision = `1.${"a".repeat(32)}`;
  const answered = { ...slot, sessionId: "asks" };
  await store.save(answered, turnWrite(answered, revision, 0, { info: { waiting: false } }));
  // As an administrator may, or a node that died after it.
  for (const statement of indexing?.statements(t) ?? []) await connection.query(statement);
  connection.release();
  expect(await listed()).toEqual(["asks in other words"]);
});

test("a user who may not make tables works on tables that are there, and is told otherwise", async () => {
  const user = `u${prefix}`;
  await pool.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'pw'`);
  await pool.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast.* TO '${user}'@'%'`);
  const url = new URL(inject("mysqlUrl"));
  url.username = user;
  url.password = "pw";
  const limited = createPool(url.href);
  const store = new MysqlAgentStateStore({ pool: limited, tablePrefix: prefix });
  const failure = await store.load(slot).catch((error: unknown) => error);
  expect(StoreUnavailableError.is(failure)).toBe(true);
  expect(String(failure)).toContain("rights");
  await migrate(pool, { tablePrefix: prefix });
  await pool.query(`DELETE FROM ${prefix}migrations WHERE number = 2`);
  expect(await store.load(slot), "also where an optional migration is missing").toBe(null);
  await limited.end();
  await pool.query(`DROP USER '${user}'@'%'`);
});

test.each(["a-b", "a`b", "a b", "ä", "x".repeat(33), "a;"])("prefix %j is refused", (bad) => {
  expect(() => new MysqlAgentStateStore({ pool, tablePrefix: bad })).toThrow(ConfigurationError);
  expect(() => migrationStatements(bad)).toThrow(ConfigurationError);
});
