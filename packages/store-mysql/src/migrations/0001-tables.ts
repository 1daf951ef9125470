import type { Migration } from "./migration.js";

/** Engine, row format and character set. */
export const TABLE_OPTIONS = "ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4";

/**
 * Creates all tables.
 *
 * Ids, JSON and texts are binary, so that no collation makes two of them equal or changes a byte. Times are the server's, in UTC.
 */
export const tables: Migration = {
  number: 1,
  name: "tables",
  minReader: 1,
  statements: (t) => [
    // One row per slot that has a state (rev), a log (log_seq > 0), a holder (lease_*) or calls that wait.
    // listed_at is when its state or its log was last written, to the minute; a listing of either checks which of them it has.
    `CREATE TABLE IF NOT EXISTS ${t.slots} (
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
  lease_token VARBINARY(64) NULL,
  lease_call VARBINARY(3072) NULL,
  lease_until DATETIME(6) NULL,
  lease_signals MEDIUMBLOB NULL,
  waiting INT UNSIGNED NOT NULL DEFAULT 0,
  head MEDIUMBLOB NULL,
  PRIMARY KEY (k),
  KEY by_owner (owner, listed_at),
  KEY by_agent (agent, listed_at),
  KEY by_time (listed_at)
) ${TABLE_OPTIONS}`,
    `CREATE TABLE IF NOT EXISTS ${t.messages} (
  k BINARY(32) NOT NULL,
  pos INT UNSIGNED NOT NULL,
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (k, pos)
) ${TABLE_OPTIONS}`,
    `CREATE TABLE IF NOT EXISTS ${t.log} (
  k BINARY(32) NOT NULL,
  seq BIGINT UNSIGNED NOT NULL,
  id VARBINARY(765) NOT NULL,
  call_id VARBINARY(765) NOT NULL,
  at VARBINARY(64) NOT NULL,
  kind VARBINARY(16) NOT NULL,
  has_blobs TINYINT UNSIGNED NOT NULL DEFAULT 0,
  input_tokens BIGINT UNSIGNED NULL,
  output_tokens BIGINT UNSIGNED NULL,
  cached_tokens BIGINT UNSIGNED NULL,
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (k, seq),
  UNIQUE KEY by_id (k, id)
) ${TABLE_OPTIONS}`,
    `CREATE TABLE IF NOT EXISTS ${t.blobs} (
  k BINARY(32) NOT NULL,
  ref BINARY(32) NOT NULL,
  chunk INT UNSIGNED NOT NULL,
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (k, ref, chunk)
) ${TABLE_OPTIONS}`,
    // Calls that wait for a slot, in the order of their ids, and calls that listen for signals without this store's gate.
    `CREATE TABLE IF NOT EXISTS ${t.waiters} (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  k BINARY(32) NOT NULL,
  kind VARBINARY(16) NOT NULL,
  token VARBINARY(64) NOT NULL,
  call_id VARBINARY(3072) NOT NULL,
  alive_until DATETIME(6) NOT NULL,
  signals MEDIUMBLOB NULL,
  PRIMARY KEY (id),
  KEY by_slot (k, id),
  KEY by_time (alive_until)
) ${TABLE_OPTIONS}`,
    // `head` is the start of `name`, as long as an index allows: keys are listed in its order.
    `CREATE TABLE IF NOT EXISTS ${t.kv} (
  ns BINARY(32) NOT NULL,
  kh BINARY(32) NOT NULL,
  name VARBINARY(3072) NOT NULL,
  head VARBINARY(700) NOT NULL,
  version VARBINARY(64) NOT NULL,
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (ns, kh),
  KEY by_head (ns, head)
) ${TABLE_OPTIONS}`,
  ],
};
