import { alterTable, column, unlessThere } from "./alter-table.js";
import type { Migration } from "./migration.js";

/**
 * Adds to each slot when it was last used, for sessions that expire.
 *
 * Earlier releases neither read nor write the column: what they write counts by `updated_at`, `listed_at` and `lease_until`. It is
 * in no index: it changes with every turn.
 */
export const lastUse: Migration = {
  number: 4,
  name: "last use",
  minReader: 1,
  statements: (t) =>
    unlessThere(
      column(t, "slots", "used_at"),
      alterTable(t.slots, "ADD COLUMN used_at DATETIME(6) NULL"),
    ),
};
