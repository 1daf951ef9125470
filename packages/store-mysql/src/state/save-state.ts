import type { Revision, Slot } from "@holdfast/core";
import { describeSlot, leaseLost, stateConflict } from "@holdfast/core/store-kit";
import { asBytesOrNone, asNumberOrZero, asTextOrNull } from "../connection/cells.js";
import { compound } from "../connection/compound.js";
import type { Database, Transaction } from "../connection/database.js";
import type { Value, WriteResult } from "../connection/session.js";
import { removeExpired } from "../expiry/expired-sessions.js";
import { andUnexpired, NOW } from "../expiry/last-use.js";
import { inboxAfter, removeEntries } from "../inbox/inbox-column.js";
import { slotHash, type Tables } from "../keys.js";
import { LISTED_NOW } from "../listing/list-position.js";
import { insertingLog, insertLog } from "../log/append-log.js";
import { writeBlobs } from "../log/log-blobs.js";
import { keepingRecord, onlyRecord } from "./call-records.js";
import { changesAfter } from "./change-column.js";
import { deleteMessages, insertingMessages, writeMessages } from "./message-rows.js";
import { opHash, RING_BYTES, revisionInRing } from "./op-ring.js";
import type { PreparedWrite } from "./prepare-write.js";
import { SLOT_COLUMNS, slotValues } from "./state-row.js";

/**
 * Writes state, log, inbox and lease in one transaction.
 *
 * The first statement locks the slot's row, so that saves of a slot are serialized, and writes only if the revision, the op and
 * the lease match and exactly the kept messages are stored, as in a turn that only appends. Every other case is examined only
 * when that statement changed nothing.
 */
export async function saveState(
  database: Database,
  slot: Slot,
  write: PreparedWrite,
): Promise<Revision> {
  const what = `saving ${describeSlot(slot)}`;
  const { tables } = database;
  const k = slotHash(slot);
  // With a lease the session was there, or removed, when the lease began, and does not expire while it is held.
  if (write.expected === null && write.lease === undefined) await removeExpired(database, slot);
  await writeBlobs(database, slot, write.log.blobs);
  const timed = database.within(database.commandTimeoutMs);
  if (fitsCompound(write) && (await saveAtOnce(timed, what, k, write))) return write.revision;
  return timed.transaction(what, async (tx) => {
    // With a lease the row exists. Without one, an UPDATE of a missing row would lock the gap for other sessions.
    if (write.expected === null && write.lease === undefined) await makeRow(tx, tables, slot);
    let stored = write.keep;
    let { affectedRows, insertId } = await updateRow(tx, database, k, write, stored);
    if (affectedRows === 0) {
      const found = await readRow(tx, database, k);
      const repeated = revisionInRing(found.ops, write.op);
      if (repeated !== undefined) return repeated;
      if (write.lease !== undefined && found.lease !== write.lease) throw leaseLost(slot);
      if (found.revision !== write.expected)
        throw stateConflict(slot, write.expected, found.revision);
      write.checkFits(found.count);
      stored = found.count;
      ({ affectedRows, insertId } = await updateRow(tx, database, k, write, stored));
      // The row has been locked since it was read: only the lease can have expired in between.
      if (affectedRows === 0) throw leaseLost(slot);
    }
    // One entry, the usual number, was removed with the update.
    if (write.takes.length > 1) await removeEntries(tx, tables, k, write.takes);
    await deleteMessages(tx, tables, k, write.count, stored);
    await writeMessages(tx, tables, k, write.rows);
    await insertLog(tx, tables, k, insertId, write.log);
    return write.revision;
  });
}

/** Most messages and log records of a save that is one statement: each number of them is a text to prepare. */
const [MESSAGES_AT_ONCE, RECORDS_AT_ONCE, BYTES_AT_ONCE] = [4, 5, 32_768];

/** Tells whether a write is an ordinary one: that of a session that exists, with few and short messages and records. */
function fitsCompound({ expected, lease, takes, head, rows, log }: PreparedWrite): boolean {
  const bytes = rows.reduce((sum, { body }) => sum + body.length, head.length);
  return (
    (expected !== null || lease !== undefined) &&
    takes.length <= 1 &&
    rows.length <= MESSAGES_AT_ONCE &&
    log.records.length <= RECORDS_AT_ONCE &&
    log.blobs.size === 0 &&
    log.records.reduce((sum, { rest }) => sum + rest.length, bytes) <= BYTES_AT_ONCE
  );
}

/** Saves with one statement, where the server can; false when the transaction has to find out why it could not. */
async function saveAtOnce(
  database: Database,
  what: string,
  k: Buffer,
  write: PreparedWrite,
): Promise<boolean> {
  const { tables } = database;
  const first = updatingRow(database, k, write, write.keep);
  const rest = [
    ...(write.rows.length > 0 ? [insertingMessages(tables, k, write.rows)] : []),
    ...(write.log.records.length > 0 ? [insertingLog(tables, k, "last_id", write.log)] : []),
  ];
  const sql = rest.map((statement) => statement.sql);
  const values = [first, ...rest].flatMap((statement) => statement.values);
  return (await database.compound(what, compound(first.sql, sql), values)) !== null;
}

function makeRow(tx: Transaction, { slots }: Tables, slot: Slot): Promise<WriteResult> {
  return tx.write(
    `INSERT INTO ${slots} (${SLOT_COLUMNS}, used_at) VALUES (?, ?, ?, ?, ?, ?, ${NOW}) ON DUPLICATE KEY UPDATE k = k`,
    slotValues(slot),
  );
}

function updateRow(
  tx: Transaction,
  ...row: [database: Database, k: Buffer, write: PreparedWrite, stored: number]
): Promise<WriteResult> {
  const { sql, values } = updatingRow(...row);
  return tx.write(sql, values);
}

function updatingRow(
  database: Database,
  k: Buffer,
  write: PreparedWrite,
  stored: number,
): { sql: string; values: readonly Value[] } {
  const ending = write.release
    ? ", lease_token = NULL, lease_call = NULL, lease_until = NULL, lease_signals = NULL"
    : "";
  const beside = besideHead(write);
  const changes = changesAfter(write);
  const holding =
    write.lease === undefined ? "" : " AND lease_token = ? AND lease_until > UTC_TIMESTAMP(6)";
  return {
    sql: `UPDATE ${database.tables.slots} SET rev = ?, head = ?, n = ?, ops = LEFT(CONCAT(?, ops), ${RING_BYTES}), ${changes.sql}, updated_at = UTC_TIMESTAMP(6), used_at = ${NOW},
listed_at = ${LISTED_NOW},
log_seq = LAST_INSERT_ID(log_seq + ?)${beside.sql}${ending}
WHERE k = ? AND rev <=> ? AND n = ? AND LOCATE(UNHEX(?), ops) = 0${holding}${andUnexpired(database)}`,
    values: [
      Buffer.from(write.revision, "utf8"),
      write.head,
      write.count,
      write.opEntry,
      ...changes.values,
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

/**
 * Assignments for what is kept beside the head. The first save of a state keeps nothing: a state of the same slot may have
 * been deleted by an earlier release, which leaves these columns as they are.
 */
function besideHead(write: PreparedWrite): { sql: string; values: readonly Value[] } {
  const { callRecord, info, takes, expected } = write;
  const isFirst = expected === null;
  const drop = takes.length === 1 ? takes[0] : undefined;
  const runOpen = isFirst ? (info?.runOpen ?? false) : info?.runOpen;
  const parts: { sql: string; values: readonly Value[] }[] = [];
  if (isFirst) parts.push(onlyRecord(callRecord));
  else if (callRecord) parts.push(keepingRecord(callRecord));
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

interface FoundRow {
  readonly revision: Revision | null;
  readonly count: number;
  readonly ops: Buffer;
  /** Token of the current lease. */
  readonly lease: string | null;
}

async function readRow(tx: Transaction, database: Database, k: Buffer): Promise<FoundRow> {
  const [row = []] = await tx.read(
    `SELECT rev, n, ops, IF(lease_until > UTC_TIMESTAMP(6), lease_token, NULL) FROM ${database.tables.slots} WHERE k = ?${andUnexpired(database)} FOR UPDATE`,
    [k],
  );
  const [revision, count, ops, lease] = row;
  return {
    revision: asTextOrNull(revision),
    count: asNumberOrZero(count),
    ops: asBytesOrNone(ops),
    lease: asTextOrNull(lease),
  };
}
