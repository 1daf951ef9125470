import type { Migration } from "./migration.js";

/**
 * Creates the table of call records, a row each.
 *
 * In the slots' rows every save of a named call wrote all of them anew. The first release does not read such records at all, and
 * refuses the states that have some.
 */
export const callRecords: Migration = {
  number: 10,
  name: "call records",
  minReader: 1,
  statements: (t) => [
    // n is the number of the revision that was saved with the record.
    `CREATE TABLE IF NOT EXISTS ${t.calls} (
  k BINARY(32) NOT NULL,
  n BIGINT UNSIGNED NOT NULL,
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (k, n)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
  ],
};
