import { migrate, migrationStatements } from "@holdfast/store-mysql";
import { spawnScript } from "@holdfast/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { tableNames } from "../../src/keys.js";
import { migrations } from "../../src/migrations/migrations.js";
import { dropTables, freshPrefix, rowsOf, testPool } from "../log/fresh-tables.js";
import { watchedPool } from "../watched-pool.js";

const pool = testPool();
const migrator = new URL("./children/migrator.mjs", import.meta.url);
const all = { applied: migrations.map(({ number }) => number), leftOut: [] };
const oneByOne = freshPrefix();
let expected: unknown;
let prefix: string;

beforeAll(async () => {
  await run(migrationStatements(oneByOne));
  expected = await formOf(oneByOne);
});
beforeEach(() => {
  prefix = freshPrefix();
});
afterEach(() => dropTables(pool, prefix));
afterAll(() => dropTables(pool, oneByOne));

async function run(statements: readonly string[]): Promise<void> {
  const connection = await pool.getConnection();
  for (const statement of statements) await connection.query(statement);
  connection.release();
}

/** Everything the server says of the tables and views of a prefix, and which migrations are recorded. */
async function formOf(of: string): Promise<unknown> {
  const tables = await rowsOf(
    pool,
    "SELECT table_name, table_type, engine, row_format, table_collation FROM information_schema.tables WHERE table_schema = DATABASE() AND LEFT(table_name, ?) = ? ORDER BY table_name",
    [of.length, of],
  );
  const form: unknown[] = await rowsOf(
    pool,
    `SELECT number, name, min_reader FROM ${of}migrations ORDER BY number`,
  );
  for (const table of tables)
    form.push(table, await rowsOf(pool, `SHOW CREATE TABLE \`${table[0]}\``));
  return JSON.parse(JSON.stringify(form).replaceAll(of, ""));
}

test("fresh tables are those that the migrations make one by one, but never altered", async () => {
  const statements: string[] = [];
  const watched = watchedPool(pool, (sql) => {
    statements.push(sql);
    return undefined;
  });
  expect(await migrate(watched, { tablePrefix: prefix })).toEqual(all);
  expect(await formOf(prefix)).toEqual(expected);
  expect(statements.filter((sql) => /ALTER|UPDATE \S+ SET/.test(sql))).toEqual([]);
});

test("processes that start at once on an empty database all come to work", async () => {
  const children = [1, 2, 3].map(() => spawnScript(migrator, [inject("mysqlUrl"), prefix]));
  for (const child of children) await child.line("ready");
  for (const child of children) child.send("go");
  for (const child of children) await child.line("done");
  expect(await formOf(prefix)).toEqual(expected);
  for (const child of children) await child.exited;
});

test.each([1, 2, 3, 4, 12])(
  "what kill -9 left after %i tables is completed by a node that waited",
  async (tables) => {
    await using child = spawnScript(migrator, [inject("mysqlUrl"), prefix, String(tables)]);
    await child.line("ready");
    child.send("go");
    await child.line("halted");
    const waiting = migrate(pool, { tablePrefix: prefix });
    await child.kill9();
    expect(await waiting).toEqual(all);
    expect(await formOf(prefix)).toEqual(expected);
  },
);

test.each(["slots", "messages", "log"] as const)(
  "table %s in its first form is migrated, also when nothing is recorded",
  async (table) => {
    const t = tableNames(prefix);
    const first = migrationStatements(prefix).filter((sql) => sql.includes(`EXISTS ${t[table]} (`));
    expect(first).toHaveLength(1);
    await run(first);
    expect(await migrate(pool, { tablePrefix: prefix })).toEqual(all);
    expect(await formOf(prefix)).toEqual(expected);
  },
);
