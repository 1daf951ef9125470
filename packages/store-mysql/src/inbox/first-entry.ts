import { randomInt } from "node:crypto";
import type { Value } from "../connection/session.js";
import type { Tables } from "../keys.js";
import { entryStart } from "../state/entry-list.js";
import { INPUT_END, type PreparedEntry, putting, puttingValues } from "./inbox-column.js";

/*
 * The first entry of an inbox, in a row of its own, where the server has compound statements: as a rule the input of the call that
 * runs, and the only one. It is put there when a call takes a session that has a state and an empty inbox; every other entry
 * goes into the slot's row, behind it. Nothing locks a range of these rows, which those of other sessions lie in.
 */

/** Numbers of rows are below this. */
const MAX_NUMBER = 2 ** 47;

/** Expression for all entries of a slot that has a state. */
export function allEntries({ inbox, slots }: Tables): string {
  return `CONCAT(IF(rev IS NULL, X'', COALESCE((SELECT body FROM ${inbox} WHERE ${inbox}.k = ${slots}.k ORDER BY n LIMIT 1), X'')), COALESCE(inbox, X''))`;
}

interface Block {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Variables of {@link puttingFirst} and {@link settlingFirst}. */
export const FIRST_VARIABLES: readonly string[] = [
  "v_firsts, v_mine INT DEFAULT 0",
  "v_n BIGINT UNSIGNED",
  "v_entry MEDIUMBLOB",
];

/**
 * Statements of a compound one that put an entry into the inbox of a slot that was taken.
 *
 * @param isEmpty - condition that the slot has a state and no entries in its row
 */
export function puttingFirst(
  { inbox, slots }: Tables,
  k: Buffer,
  put: PreparedEntry | undefined,
  isEmpty: string,
): Block {
  if (put === undefined)
    return { sql: `SELECT COUNT(*) INTO v_firsts FROM ${inbox} WHERE k = ?`, values: [k] };
  const looking = findingFirst(inbox, k, put.id);
  const [, ...beside] = [...puttingValues(put)].reverse();
  return {
    sql: `${looking.sql};
SET v_entry = ?;
IF v_firsts = 0 AND ${isEmpty} THEN INSERT INTO ${inbox} (k, n, body) VALUES (?, ?, v_entry);
ELSEIF v_mine = 0 THEN UPDATE ${slots} SET ${putting("v_entry")} WHERE k = ?;
END IF`,
    values: [...looking.values, put.bytes, k, randomInt(MAX_NUMBER), ...beside.reverse(), k],
  };
}

/** Statements of a compound one that remove the first entry, if it is the one to drop; otherwise an input keeps its slot unfinished. */
export function settlingFirst(
  { inbox, slots }: Tables,
  k: Buffer,
  drop: string | undefined,
): Block {
  const looking = findingFirst(inbox, k, drop);
  return {
    sql: `${looking.sql};
IF v_mine > 0 THEN DELETE FROM ${inbox} WHERE k = ? AND n = v_n;
ELSEIF v_firsts > 0 THEN UPDATE ${slots} SET unfinished = 1 WHERE k = ? AND EXISTS (SELECT 1 FROM ${inbox} WHERE ${inbox}.k = ${slots}.k AND LOCATE(${INPUT_END}, CONCAT(body, X'0A')) > 0);
END IF`,
    values: [...looking.values, k, k],
  };
}

/** Reads without locking: the slot's row is locked, and there is no other way to its entries. */
function findingFirst(inbox: string, k: Buffer, id: string | undefined): Block {
  const start = id === undefined ? "" : entryStart("id", id);
  const isMine = `COALESCE(SUM(LEFT(body, ?) = UNHEX(?)), 0)`;
  return {
    sql: `SELECT COUNT(*), ${isMine}, MAX(n) INTO v_firsts, v_mine, v_n FROM ${inbox} WHERE k = ?`,
    // A start of no bytes would be that of every entry.
    values: [start.length / 2, start || "00", k],
  };
}
