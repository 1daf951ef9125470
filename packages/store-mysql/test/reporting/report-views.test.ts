import { assistantMessage, type Usage } from "@holdfast/core";
import type { LogDraft } from "@holdfast/core/store-kit";
import { MysqlConversationLog, migrate, migrationStatements } from "@holdfast/store-mysql";
import { createPool } from "mysql2/promise";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { migrations } from "../../src/migrations/migrations.js";
import { dropTables, freshPrefix, rowsOf, testPool } from "../log/fresh-tables.js";
import { loggedSlot as slot, textRecord } from "../log/log-records.js";

const pool = testPool();
let prefix: string;
let log: MysqlConversationLog;

beforeEach(() => {
  prefix = freshPrefix();
  log = new MysqlConversationLog({ pool, tablePrefix: prefix });
});
afterEach(() => dropTables(pool, prefix));

function reply(id: string, at: string, usage: Usage, callId = "call"): LogDraft {
  return textRecord(id, "", { at, callId, message: { ...assistantMessage("reply"), usage } });
}

test("session_report has a line per session with its messages, records, times and tokens", async () => {
  await log.append(slot, [
    textRecord("1", "hello", { at: "2026-03-01T10:00:00.000Z" }),
    reply("2", "2026-03-01T10:00:05.250Z", { inputTokens: 100, outputTokens: 20 }),
    reply("3", "2026-03-02T09:00:00.000Z", { inputTokens: 50, outputTokens: 5 }),
  ]);
  await log.append({ ...slot, userId: null, sessionId: "Ä 🌤" }, [textRecord("1", "x")]);
  await pool.query(`UPDATE ${prefix}slots SET rev = '1.x', n = 7 WHERE user_id IS NOT NULL`);
  const rows = await rowsOf(
    pool,
    `SELECT agent, \`user\`, session, messages_in_context, log_records, CAST(first_at AS CHAR), CAST(last_at AS CHAR), CAST(input_tokens AS CHAR), CAST(output_tokens AS CHAR) FROM ${prefix}session_report ORDER BY log_records DESC`,
  );
  expect(rows[0]).toEqual([
    ...["agent", "user", "session", 7, 3],
    ...["2026-03-01 10:00:00.000000", "2026-03-02 09:00:00.000000", "150", "25"],
  ]);
  expect(rows[1]?.slice(0, 5)).toEqual(["agent", null, "Ä 🌤", 0, 1]);
  expect(rows).toHaveLength(2);
});

test("usage_report adds up tokens per agent, user and day", async () => {
  const usage = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 40 };
  await log.append(slot, [
    reply("1", "2026-03-01T10:00:00.000Z", usage, "call-1"),
    reply("2", "2026-03-01T23:59:59.999Z", usage, "call-1"),
    reply("3", "2026-03-02T00:00:00.000Z", usage, "call-2"),
  ]);
  await log.append({ ...slot, sessionId: "other" }, [
    reply("1", "2026-03-01T12:00:00.000Z", { inputTokens: 1, outputTokens: 2 }, "call-1"),
    textRecord("2", "no usage", { at: "2026-03-01T12:00:00.000Z" }),
  ]);
  // Ids that only a collation would take for the same.
  await log.append({ ...slot, userId: "USER" }, [reply("1", "2026-03-01T12:00:00.000Z", usage)]);
  const rows = await rowsOf(
    pool,
    `SELECT agent, \`user\`, CAST(day AS CHAR), calls, model_calls, CAST(input_tokens AS CHAR), CAST(output_tokens AS CHAR), CAST(cached_tokens AS CHAR) FROM ${prefix}usage_report ORDER BY \`user\`, day`,
  );
  expect(rows).toEqual([
    ["agent", "USER", "2026-03-01", 1, 1, "100", "10", "40"],
    ["agent", "user", "2026-03-01", 2, 3, "201", "22", "80"],
    ["agent", "user", "2026-03-02", 1, 1, "100", "10", "40"],
  ]);
  const ofOne = `SELECT COUNT(*) FROM ${prefix}usage_report WHERE \`user\` = 'user'`;
  expect(await rowsOf(pool, ofOne)).toEqual([[2]]);
});

test("encrypted, damaged and odd records do not disturb the reports", async () => {
  const odd = { inputTokens: "many", outputTokens: -1, cachedInputTokens: 1.5 } as unknown as Usage;
  let nested: unknown = "deep";
  for (let depth = 0; depth < 200; depth++) nested = [nested];
  const deep = {
    ...assistantMessage([{ type: "tool_call", id: "c", name: "t", input: nested as never }]),
    usage: { inputTokens: 7, outputTokens: 3 },
  };
  await log.append(slot, [
    reply("1", "yesterday", { inputTokens: 5, outputTokens: 1 }),
    reply("2", "2026-13-45T99:99:99.000Z", odd),
    textRecord("3", "", { at: "2026-03-01T10:00:00.000Z", message: deep }),
    textRecord("4", "", { at: "x".repeat(500), callId: "\ud800".repeat(900) }),
  ]);
  await pool.query(`UPDATE ${prefix}log SET body = UNHEX('00FF80C3') WHERE id = '4'`);
  const sessions = await rowsOf(
    pool,
    `SELECT log_records, CAST(first_at AS CHAR), CAST(input_tokens AS CHAR), CAST(output_tokens AS CHAR) FROM ${prefix}session_report`,
  );
  expect(sessions).toEqual([[4, "2026-03-01 10:00:00.000000", "12", "4"]]);
  const usage = await rowsOf(
    pool,
    `SELECT CAST(day AS CHAR), CAST(input_tokens AS CHAR) FROM ${prefix}usage_report ORDER BY day`,
  );
  expect(usage).toEqual([
    [null, "5"],
    ["2026-03-01", "7"],
  ]);
});

test("a user who may not create views can migrate and work; the views come when one may", async () => {
  const name = `u${prefix}`;
  const database = new URL(inject("mysqlUrl")).pathname.slice(1);
  await pool.query(`CREATE USER '${name}'@'%' IDENTIFIED BY 'secret-of-test'`);
  await pool.query(
    `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER ON \`${database}\`.* TO '${name}'@'%'`,
  );
  const url = new URL(inject("mysqlUrl"));
  url.username = name;
  url.password = "secret-of-test";
  const restricted = createPool({ uri: url.href, connectionLimit: 2 });
  try {
    const report = await migrate(restricted, { tablePrefix: prefix });
    expect(report.applied).toEqual(
      migrations.map(({ number }) => number).filter((each) => each !== 2),
    );
    expect(report.leftOut).toEqual([
      { number: 2, missing: expect.stringContaining("CREATE VIEW") },
    ]);
    const work = new MysqlConversationLog({ pool: restricted, tablePrefix: prefix });
    await work.append(slot, [textRecord("1", "text")]);
    const checked = { pool: restricted, tablePrefix: prefix, migrate: false };
    expect(await new MysqlConversationLog(checked).read(slot)).toHaveLength(1);
  } finally {
    await restricted.end();
    await pool.query(`DROP USER '${name}'@'%'`);
  }
  for (const statement of migrationStatements(prefix))
    if (statement.includes(" VIEW ")) await pool.query(statement);
  expect(await rowsOf(pool, `SELECT session FROM ${prefix}session_report`)).toEqual([["session"]]);
  expect((await migrate(pool, { tablePrefix: prefix })).applied).toEqual([2]);
});
