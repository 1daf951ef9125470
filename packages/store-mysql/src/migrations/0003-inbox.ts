import { alterTable, column, index, unlessThere } from "./alter-table.js";
import type { Migration } from "./migration.js";

/**
 * Adds to each slot its inbox, the records of its named calls and the facts that listings show.
 *
 * `run_open` repeats a fact of `info`; `unfinished` is set as well while the inbox holds the input of a call, and is indexed.
 * Earlier releases neither read nor write these columns.
 */
export const inbox: Migration = {
  number: 3,
  name: "inbox",
  minReader: 1,
  statements: (t) => [
    ...unlessThere(
      column(t, "slots", "unfinished"),
      // Columns alone: servers add them without touching the rows.
      alterTable(
        t.slots,
        `ADD COLUMN inbox MEDIUMBLOB NULL, ADD COLUMN calls MEDIUMBLOB NULL, ADD COLUMN info MEDIUMBLOB NULL,
ADD COLUMN run_open TINYINT UNSIGNED NOT NULL DEFAULT 0, ADD COLUMN unfinished TINYINT UNSIGNED NOT NULL DEFAULT 0`,
      ),
    ),
    ...unlessThere(
      index(t, "slots", "by_unfinished"),
      alterTable(t.slots, "ADD KEY by_unfinished (unfinished, listed_at)"),
    ),
  ],
};
