import { alterTable, column, unlessThere } from "./alter-table.js";
import type { Migration } from "./migration.js";

/**
 * Lets a message refer to the log record that holds its text, and keeps earlier releases away from both.
 *
 * Nodes of an earlier release check `min_reader` only when they start. They would take a reference for damage, and would delete
 * records that a state refers to. With the columns renamed, each of their statements on a state, a lease or a log fails with an
 * error that names the release, whatever they have in memory. The statements change definitions only, never rows.
 */
export const storedOnce: Migration = {
  number: 11,
  name: "stored once",
  minReader: 11,
  statements: (t) => [
    // First, so that a node of an earlier release fails before it calls a model, not when it saves.
    ...unlessThere(
      column(t, "slots", "state_head"),
      alterTable(
        t.slots,
        "RENAME COLUMN lease_token TO lease_holder, RENAME COLUMN head TO state_head",
      ),
    ),
    // Seq of the record that holds the text of a message, whose own body is empty then, and the CRC-32 of that text.
    ...unlessThere(
      column(t, "messages", "record_seq"),
      alterTable(
        t.messages,
        "ADD COLUMN record_seq BIGINT UNSIGNED NULL, ADD COLUMN record_crc INT UNSIGNED NULL",
      ),
    ),
    ...unlessThere(
      column(t, "log", "record_seq"),
      alterTable(t.log, "RENAME COLUMN seq TO record_seq"),
    ),
  ],
};
