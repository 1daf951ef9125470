import { alterTable, column, index, unlessThere } from "./alter-table.js";
import type { Migration } from "./migration.js";

/** The facts for listings as text: MySQL reads no JSON from bytes. */
const INFO = "CONVERT(info USING utf8mb4)";

/**
 * Adds to each slot whether its tool calls wait for an answer, indexed, and sets it for the sessions that wait already.
 *
 * `awaits_answer` repeats a fact of `info`. Earlier releases neither read nor write it: while their nodes still run, a listing
 * checks it against `info`, and misses a session that one of them makes wait, until its next save.
 */
export const waiting: Migration = {
  number: 5,
  name: "waiting",
  minReader: 1,
  statements: (t) => [
    ...unlessThere(
      column(t, "slots", "awaits_answer"),
      alterTable(t.slots, "ADD COLUMN awaits_answer TINYINT UNSIGNED NOT NULL DEFAULT 0"),
    ),
    // Before the index, which is then made with the values in place. Repeated, it says again what the rows say by then.
    `UPDATE ${t.slots} SET awaits_answer = 1 WHERE awaits_answer = 0 AND rev IS NOT NULL AND info IS NOT NULL
AND CASE WHEN JSON_VALID(${INFO}) THEN JSON_UNQUOTE(JSON_EXTRACT(${INFO}, '$.waiting')) = 'true' ELSE FALSE END`,
    ...unlessThere(
      index(t, "slots", "by_awaits_answer"),
      alterTable(t.slots, "ADD KEY by_awaits_answer (awaits_answer, listed_at)"),
    ),
  ],
};
