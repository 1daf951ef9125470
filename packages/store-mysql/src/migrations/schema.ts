import type { Tables } from "../keys.js";
import { TABLE_OPTIONS } from "./0001-tables.js";
import { migrations } from "./migrations.js";

/** Current form of the tables that migrations have altered since they created them. */
const altered = (t: Tables): readonly string[] => [
  `CREATE TABLE ${t.slots} (
  k BINARY(32) NOT NULL,
  agent_id VARBINARY(765) NOT NULL,
  user_id VARBINARY(765) NULL,
  session_id VARBINARY(765) NOT NULL,
  agent BINARY(32) NOT NULL,
  owner BINARY(32) NOT NULL,
  rev VARBINARY(64) NULL,
  n INT UNSIGNED NOT NULL DEFAULT 0,
  ops VARBINARY(640) NOT NULL DEFAULT '',
  updated_at DATETIME(6) NULL,
  listed_at DATETIME(6) NULL,
  log_seq BIGINT UNSIGNED NOT NULL DEFAULT 0,
  lease_holder VARBINARY(64) NULL,
  lease_call VARBINARY(3072) NULL,
  lease_until DATETIME(6) NULL,
  lease_signals MEDIUMBLOB NULL,
  waiting INT UNSIGNED NOT NULL DEFAULT 0,
  state_head MEDIUMBLOB NULL,
  inbox MEDIUMBLOB NULL,
  calls MEDIUMBLOB NULL,
  info MEDIUMBLOB NULL,
  run_open TINYINT UNSIGNED NOT NULL DEFAULT 0,
  unfinished TINYINT UNSIGNED NOT NULL DEFAULT 0,
  used_at DATETIME(6) NULL,
  awaits_answer TINYINT UNSIGNED NOT NULL DEFAULT 0,
  changes VARBINARY(640) NULL,
  last_change VARBINARY(255) NULL,
  PRIMARY KEY (k),
  KEY by_owner (owner, listed_at),
  KEY by_agent (agent, listed_at),
  KEY by_time (listed_at),
  KEY by_unfinished (unfinished, listed_at),
  KEY by_awaits_answer (awaits_answer, listed_at)
) ${TABLE_OPTIONS}`,
  `CREATE TABLE ${t.messages} (
  k BINARY(32) NOT NULL,
  pos INT UNSIGNED NOT NULL,
  body MEDIUMBLOB NOT NULL,
  record_seq BIGINT UNSIGNED NULL,
  record_crc INT UNSIGNED NULL,
  PRIMARY KEY (k, pos)
) ${TABLE_OPTIONS}`,
  `CREATE TABLE ${t.log} (
  k BINARY(32) NOT NULL,
  record_seq BIGINT UNSIGNED NOT NULL,
  id VARBINARY(765) NOT NULL,
  call_id VARBINARY(765) NOT NULL,
  at VARBINARY(64) NOT NULL,
  kind VARBINARY(16) NOT NULL,
  has_blobs TINYINT UNSIGNED NOT NULL DEFAULT 0,
  input_tokens BIGINT UNSIGNED NULL,
  output_tokens BIGINT UNSIGNED NULL,
  cached_tokens BIGINT UNSIGNED NULL,
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (k, record_seq),
  UNIQUE KEY by_id (k, id)
) ${TABLE_OPTIONS}`,
];

/**
 * Returns statements that create every table in the form that all migrations, one after another, give it; without the views.
 *
 * Each fails when its table exists, so that a table made by anyone else is never taken for one in this form.
 */
export function schema(t: Tables): readonly string[] {
  const created = new Map<string, string>();
  for (const statement of [...migrations.flatMap((each) => each.statements(t)), ...altered(t)]) {
    const [, table, definition] =
      /^CREATE TABLE (?:IF NOT EXISTS )?(\S+)(.*)$/s.exec(statement) ?? [];
    if (table !== undefined) created.set(table, `CREATE TABLE ${table}${definition}`);
  }
  return [...created.values()];
}
