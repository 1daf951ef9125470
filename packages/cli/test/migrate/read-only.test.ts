import { randomUUID } from "node:crypto";
import { tempDirectory } from "@holdfast/testing";
import { createPool } from "mysql2/promise";
import { expect, inject, test } from "vitest";
import { openStore } from "../../src/store/open-store.js";
import { migrate } from "./migrate-process.js";
import { sampleSessions, seed } from "./sample-sessions.js";

const ownPrefix = () => `ro${randomUUID().slice(0, 8)}_`;
const mysql = (prefix: string) => `${inject("mysqlUrl")}?prefix=${prefix}`;

/** Runs a statement without the store. */
async function query(statement: string): Promise<unknown> {
  const pool = createPool(inject("mysqlUrl"));
  try {
    const [rows] = await pool.query(statement);
    return rows;
  } finally {
    await pool.end();
  }
}

async function tablesOf(prefix: string): Promise<number> {
  const rows = (await query("SHOW TABLES")) as object[];
  return rows.flatMap(Object.values).filter((name) => name.startsWith(prefix)).length;
}

async function seeded(url: string, count: number): Promise<void> {
  const opened = await openStore(url);
  await seed(opened.parts, sampleSessions(count));
  await opened.close();
}

test("a source without tables is not there: nothing is made, and its place is named", async () => {
  await using directory = await tempDirectory();
  const prefix = ownPrefix();
  for (const mode of [[], ["--dry-run"], ["--verify-only"]]) {
    const run = await migrate(mysql(prefix), `json:${directory.path}`, ...mode);
    expect(run.code).toBe(3);
    expect(run.stderr).toContain(prefix);
    expect(run.stderr).toContain(new URL(inject("mysqlUrl")).pathname.slice(1));
    expect(run.stderr).toContain("nothing was ever saved there");
  }
  expect(await tablesOf(prefix)).toBe(0);
});

test("a target without tables is empty for a dry run and not there for a verification; neither makes any", async () => {
  await using directory = await tempDirectory();
  const [from, prefix] = [`json:${directory.path}`, ownPrefix()];
  await seeded(from, 3);
  expect(await migrate(from, mysql(prefix), "--dry-run")).toMatchObject({
    code: 0,
    stderr: "",
    summary: { outcomes: { missing: 3 } },
  });
  expect((await migrate(from, mysql(prefix), "--verify-only")).code).toBe(3);
  expect(await tablesOf(prefix)).toBe(0);
});

test("a target that may not make its tables ends the run once, before any session", async () => {
  await using directory = await tempDirectory();
  const [from, prefix] = [`json:${directory.path}`, ownPrefix()];
  await seeded(from, 3);
  const run = await migrate(from, `${mysql(prefix)}&migrate=false`);
  expect(run).toMatchObject({ code: 5, lines: [] });
  expect(run.stderr).toContain(prefix);
  expect(await tablesOf(prefix)).toBe(0);
});

test("stores with tables are copied and compared as ever", async () => {
  const [from, to] = [mysql(ownPrefix()), mysql(ownPrefix())];
  await seeded(from, 4);
  expect(await migrate(from, to)).toMatchObject({ code: 0, summary: { outcomes: { copied: 4 } } });
  for (const mode of ["--dry-run", "--verify-only"])
    expect(await migrate(from, to, mode)).toMatchObject({
      code: 0,
      summary: { outcomes: { present: 4 } },
    });
});

test("tables of an older release are not changed where they are only read", async () => {
  await using directory = await tempDirectory();
  const prefix = ownPrefix();
  await seeded(mysql(prefix), 2);
  await query(`DELETE FROM ${prefix}migrations`);
  const run = await migrate(mysql(prefix), `json:${directory.path}/to`);
  expect(run).toMatchObject({ code: 5, lines: [] });
  expect(run.stderr).toContain("older release");
  expect(await query(`SELECT number FROM ${prefix}migrations`)).toStrictEqual([]);
});
