import type { Migration } from "./migration.js";

/**
 * Creates the table for the first entry of an inbox that is otherwise empty: as a rule the input of the call that runs.
 *
 * In the slot's row it made the server log that row whole, when it came and when it went. Earlier releases do not see it: should
 * the process of its call die, it waits for the next call that a node of this release takes.
 */
export const firstEntry: Migration = {
  number: 9,
  name: "first entry",
  minReader: 1,
  statements: (t) => [
    // Numbered at random: an entry under the number of one that was just deleted would be logged with what that one held.
    `CREATE TABLE IF NOT EXISTS ${t.inbox} (
  k BINARY(32) NOT NULL,
  n BIGINT UNSIGNED NOT NULL,
  body MEDIUMBLOB NOT NULL,
  PRIMARY KEY (k, n)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
  ],
};
