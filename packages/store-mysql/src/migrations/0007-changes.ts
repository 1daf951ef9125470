import { alterTable, column, unlessThere } from "./alter-table.js";
import type { Migration } from "./migration.js";

/**
 * Adds to each slot the ledger of its latest changes, from which a load of a node that knows an earlier revision is answered.
 *
 * Earlier releases neither read nor write the column: a save of theirs is noticed by its revision, and loads from before it are
 * answered whole.
 */
export const changes: Migration = {
  number: 7,
  name: "changes",
  minReader: 1,
  statements: (t) =>
    unlessThere(
      column(t, "slots", "changes"),
      alterTable(t.slots, "ADD COLUMN changes VARBINARY(640) NULL"),
    ),
};
