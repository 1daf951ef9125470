import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { andUnexpired, NOW } from "../expiry/last-use.js";
import { inboxAfter } from "../inbox/inbox-column.js";
import { LISTED_NOW } from "../listing/list-position.js";
import { keepingRecord, onlyRecord } from "./call-records.js";
import { changesAfter } from "./change-column.js";
import { lastSave } from "./ledger-rows.js";
import { opHash, RING_BYTES } from "./op-ring.js";
import type { PreparedWrite } from "./prepare-write.js";
import { LEASE_ENDED } from "./state-row.js";

/**
 * Returns the statement that writes the row of a slot, if its revision, its lease and the number of its messages match and it has
 * not seen the op. It passes the last seq of the log to `LAST_INSERT_ID`.
 *
 * @param stored - messages that are stored
 */
export function updatingRow(
  database: Database,
  k: Buffer,
  write: PreparedWrite,
  stored: number,
): { sql: string; values: readonly Value[] } {
  const ending = write.release ? `, ${LEASE_ENDED}` : "";
  const beside = besideHead(write, database.knowsCompounds);
  const remembering = database.knowsCompounds ? lastSave(write) : rememberingInRow(write);
  const holding =
    write.lease === undefined ? "" : " AND lease_holder = ? AND lease_until > UTC_TIMESTAMP(6)";
  return {
    sql: `UPDATE ${database.tables.slots} SET rev = ?, state_head = ?, n = ?, ${remembering.sql}, updated_at = UTC_TIMESTAMP(6), used_at = ${NOW},
listed_at = ${LISTED_NOW},
log_seq = LAST_INSERT_ID(log_seq + ?)${beside.sql}${ending}
WHERE k = ? AND rev <=> ? AND n = ? AND LOCATE(UNHEX(?), ops) = 0${holding}${andUnexpired(database)}`,
    values: [
      Buffer.from(write.revision, "utf8"),
      write.head,
      write.count,
      ...remembering.values,
      write.log.records.length,
      ...beside.values,
      k,
      write.expected === null ? null : Buffer.from(write.expected, "utf8"),
      stored,
      // As hex text: servers differ in how they interpret binary values here.
      opHash(write.op).toString("hex"),
      ...(write.lease === undefined ? [] : [Buffer.from(write.lease, "utf8")]),
    ],
  };
}

/** Assignments that remember ops and changes in the row itself: without compound statements rows of their own would take a round trip. */
function rememberingInRow(write: PreparedWrite): { sql: string; values: readonly Value[] } {
  const changes = changesAfter(write);
  return {
    sql: `ops = LEFT(CONCAT(?, ops), ${RING_BYTES}), ${changes.sql}, last_change = NULL`,
    values: [write.opEntry, ...changes.values],
  };
}

/**
 * Assignments for what is kept beside the head. The first save of a state keeps nothing: a state of the same slot may have
 * been deleted by an earlier release, which leaves these columns as they are.
 *
 * @param hasRows - later call records have rows of their own
 */
function besideHead(
  write: PreparedWrite,
  hasRows: boolean,
): { sql: string; values: readonly Value[] } {
  const { callRecord, info, takes, expected } = write;
  const isFirst = expected === null;
  const drop = takes.length === 1 ? takes[0] : undefined;
  const runOpen = isFirst ? (info?.runOpen ?? false) : info?.runOpen;
  const parts: { sql: string; values: readonly Value[] }[] = [];
  if (isFirst) parts.push(onlyRecord(callRecord));
  else if (callRecord && !hasRows) parts.push(keepingRecord(callRecord));
  if (isFirst || info)
    parts.push({
      sql: "info = ?, run_open = ?, awaits_answer = ?",
      values: [info?.body ?? null, runOpen ? 1 : 0, info?.awaitsAnswer ? 1 : 0],
    });
  if (isFirst || info || drop !== undefined) parts.push(inboxAfter(runOpen, drop));
  return {
    sql: parts.map(({ sql }) => `, ${sql}`).join(""),
    values: parts.flatMap(({ values }) => values),
  };
}
