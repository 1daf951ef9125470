import type { Migration } from "./migration.js";

/**
 * Creates the table of the events of calls: a row for each batch. The row with the highest number is the head of its feed.
 *
 * Earlier releases do not know the table.
 */
export const feeds: Migration = {
  number: 12,
  name: "feeds",
  minReader: 1,
  statements: (t) => [
    // c is the hash of the call's id; total counts the bytes of this batch and of all before it.
    `CREATE TABLE IF NOT EXISTS ${t.feeds} (
  k BINARY(32) NOT NULL,
  c BINARY(32) NOT NULL,
  first BIGINT UNSIGNED NOT NULL,
  last BIGINT UNSIGNED NOT NULL,
  run VARBINARY(765) NOT NULL,
  run_first BIGINT UNSIGNED NOT NULL,
  ended TINYINT NOT NULL,
  total BIGINT NOT NULL,
  began DATETIME(6) NOT NULL,
  expires DATETIME(6) NOT NULL,
  call_id VARBINARY(3072) NOT NULL,
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (k, c, first),
  KEY by_expiry (expires)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
  ],
};
