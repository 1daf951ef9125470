import { parseOptions } from "@holdfast/core/plugin-kit";
import * as s from "@holdfast/core/plugin-kit/schema";
import { tableNames } from "../keys.js";
import { tablePrefixSchema } from "../options.js";
import { tables } from "./0001-tables.js";
import { reports } from "./0002-report-views.js";
import { inbox } from "./0003-inbox.js";
import { lastUse } from "./0004-last-use.js";
import { waiting } from "./0005-waiting.js";
import { nodes } from "./0006-nodes.js";
import { changes } from "./0007-changes.js";
import { ledger } from "./0008-ledger.js";
import { firstEntry } from "./0009-first-entry.js";
import { callRecords } from "./0010-call-records.js";
import { storedOnce } from "./0011-stored-once.js";
import { feeds } from "./0012-feeds.js";
import type { Migration } from "./migration.js";

/** Every migration, in order. */
export const migrations: readonly Migration[] = [
  tables,
  reports,
  inbox,
  lastUse,
  waiting,
  nodes,
  changes,
  ledger,
  firstEntry,
  callRecords,
  storedOnce,
  feeds,
];

/** The number of the newest migration this release knows. */
export const newestMigration: number = Math.max(...migrations.map(({ number }) => number));

/** Statement that creates the table of applied migrations. */
export function migrationsTable(table: string): string {
  return `CREATE TABLE IF NOT EXISTS ${table} (
  number INT UNSIGNED NOT NULL,
  name VARBINARY(64) NOT NULL,
  min_reader INT UNSIGNED NOT NULL,
  applied_at DATETIME(6) NOT NULL,
  PRIMARY KEY (number)
) ENGINE=InnoDB`;
}

/** Statement that records migrations. */
export function recordStatement(table: string, ...applied: readonly Migration[]): string {
  const rows = applied.map(
    ({ number, name, minReader }) => `(${number}, '${name}', ${minReader}, UTC_TIMESTAMP(6))`,
  );
  return `INSERT INTO ${table} (number, name, min_reader, applied_at) VALUES ${rows.join(", ")} ON DUPLICATE KEY UPDATE number = number`;
}

/**
 * Returns statements that do what `migrate` does, to run them by other means, on one connection, and set `migrate: false`.
 *
 * They suit an empty database and the tables of any earlier release: each migration in turn changes what is not there yet.
 *
 * @param tablePrefix - as in the options; `holdfast_` by default
 * @throws ConfigurationError
 */
export function migrationStatements(tablePrefix?: string): readonly string[] {
  const options = s.strictObject({ tablePrefix: tablePrefixSchema });
  const t = tableNames(parseOptions(options, { tablePrefix }, "migrationStatements").tablePrefix);
  return [
    migrationsTable(t.migrations),
    ...migrations.flatMap((migration) => [
      ...migration.statements(t),
      recordStatement(t.migrations, migration),
    ]),
  ];
}
