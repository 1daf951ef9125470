import { alterTable, column, unlessThere } from "./alter-table.js";
import type { Migration } from "./migration.js";

/**
 * Creates the table of the latest ops and changes, a short row each, and adds the newest change to each slot.
 *
 * In the slots' rows every save wrote all of them anew. Earlier releases neither read nor write the table: the op of the last save
 * stays in its slot's row for them, and loads from before a save of theirs are answered whole.
 */
export const ledger: Migration = {
  number: 8,
  name: "ledger",
  minReader: 1,
  statements: (t) => [
    // Places below 16 are those of ops, the others of changes. Saves write over the oldest.
    `CREATE TABLE IF NOT EXISTS ${t.ledger} (
  k BINARY(32) NOT NULL,
  place TINYINT UNSIGNED NOT NULL,
  entry VARBINARY(255) NOT NULL,
  PRIMARY KEY (k, place)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC`,
    ...unlessThere(
      column(t, "slots", "last_change"),
      alterTable(t.slots, "ADD COLUMN last_change VARBINARY(255) NULL"),
    ),
  ],
};
