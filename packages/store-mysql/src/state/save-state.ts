import type { Revision, Slot } from "@holdfast/core";
import { describeSlot, leaseLost, stateConflict } from "@holdfast/core/store-kit";
import { asBytesOrNone, asNumberOrZero, asTextOrNull } from "../connection/cells.js";
import { compound, REFUSE } from "../connection/compound.js";
import type { Database, Transaction } from "../connection/database.js";
import type { Value, WriteResult } from "../connection/session.js";
import { removeExpired } from "../expiry/expired-sessions.js";
import { andUnexpired, NOW } from "../expiry/last-use.js";
import { FIRST_VARIABLES, settleFirst, settlingFirst } from "../inbox/first-entry.js";
import { inboxAfter, removeEntries } from "../inbox/inbox-column.js";
import { slotHash, type Tables } from "../keys.js";
import { LISTED_NOW } from "../listing/list-position.js";
import { insertingLog, insertLog } from "../log/append-log.js";
import { writeBlobs } from "../log/log-blobs.js";
import { keepingRecord, onlyRecord } from "./call-records.js";
import { changesAfter } from "./change-column.js";
import { countingOp, insertingLedger, lastSave, readingOps } from "./ledger-rows.js";
import { deleteMessages, insertingMessages, writeMessages } from "./message-rows.js";
import { opHash, RING_BYTES, revisionInRing } from "./op-ring.js";
import type { PreparedWrite } from "./prepare-write.js";
import { LEASE_ENDED, SLOT_COLUMNS, slotValues } from "./state-row.js";

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
  const k = slotHash(slot);
  // With a lease the session was there, or removed, when the lease began, and does not expire while it is held.
  if (write.expected === null && write.lease === undefined) await removeExpired(database, slot);
  await writeBlobs(database, slot, write.log.blobs);
  const timed = database.within(database.commandTimeoutMs);
  if (fitsCompound(write) && (await saveAtOnce(timed, what, k, write))) return write.revision;
  try {
    return await timed.transaction(what, (tx) => saveIn(tx, timed, slot, write));
  } catch (error) {
    if (error instanceof AlreadySaved) return error.revision;
    throw error;
  }
}

/** Error of a save that was made before; rolls its transaction back. */
class AlreadySaved extends Error {
  readonly revision: Revision;

  constructor(revision: Revision) {
    super("the save was made before");
    this.revision = revision;
  }
}

/** @throws AlreadySaved */
async function saveIn(
  tx: Transaction,
  database: Database,
  slot: Slot,
  write: PreparedWrite,
): Promise<Revision> {
  const { tables, knowsCompounds } = database;
  const k = slotHash(slot);
  // With a lease the row exists. Without one, an UPDATE of a missing row would lock the gap for other sessions.
  if (write.expected === null && write.lease === undefined) await makeRow(tx, tables, slot);
  let stored = write.keep;
  let { affectedRows, insertId } = await updateRow(tx, database, k, write, stored);
  if (affectedRows === 0) {
    const found = await readRow(tx, database, k);
    await refuseRepeated(tx, tables, k, write, found.ops);
    if (write.lease !== undefined && found.lease !== write.lease) throw leaseLost(slot);
    if (found.revision !== write.expected)
      throw stateConflict(slot, write.expected, found.revision);
    write.checkFits(found.count);
    stored = found.count;
    ({ affectedRows, insertId } = await updateRow(tx, database, k, write, stored));
    // The row has been locked since it was read: only the lease can have expired in between.
    if (affectedRows === 0) throw leaseLost(slot);
  } else if (knowsCompounds) await refuseRepeated(tx, tables, k, write);
  // One entry, the usual number, was removed with the update.
  if (write.takes.length > 1) await removeEntries(tx, tables, k, write.takes);
  if (knowsCompounds) await settleFirst(tx, tables, k, write.takes);
  await deleteMessages(tx, tables, k, write.count, stored);
  await writeMessages(tx, tables, k, write.rows);
  await insertLog(tx, tables, k, insertId, write.log);
  if (knowsCompounds) {
    const { sql, values } = insertingLedger(tables, k, write);
    await tx.write(sql, values);
  }
  return write.revision;
}

/** @throws AlreadySaved when the ledger of the slot, whose row is locked, has the op */
async function refuseRepeated(
  tx: Transaction,
  tables: Tables,
  k: Buffer,
  { op }: PreparedWrite,
  ring: Buffer = Buffer.alloc(0),
): Promise<void> {
  const rows = await tx.read(readingOps(tables), [k]);
  const ops = Buffer.concat([ring, ...rows.map(([entry]) => asBytesOrNone(entry))]);
  const repeated = revisionInRing(ops, op);
  if (repeated !== undefined) throw new AlreadySaved(repeated);
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
  const repeated = countingOp(tables, k, write.op);
  const rest = [
    { sql: `IF ${repeated.sql} > 0 THEN ${REFUSE}; END IF`, values: repeated.values },
    ...(write.rows.length > 0 ? [insertingMessages(tables, k, write.rows)] : []),
    ...(write.log.records.length > 0 ? [insertingLog(tables, k, "last_id", write.log)] : []),
    insertingLedger(tables, k, write),
    settlingFirst(tables, k, write.takes[0]),
  ];
  const sql = rest.map((statement) => statement.sql);
  const values = [first, ...rest].flatMap((statement) => statement.values);
  return (
    (await database.compound(what, compound(first.sql, sql, FIRST_VARIABLES), values)) !== null
  );
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
  const ending = write.release ? `, ${LEASE_ENDED}` : "";
  const beside = besideHead(write);
  const remembering = database.knowsCompounds ? lastSave(write) : rememberingInRow(write);
  const holding =
    write.lease === undefined ? "" : " AND lease_token = ? AND lease_until > UTC_TIMESTAMP(6)";
  return {
    sql: `UPDATE ${database.tables.slots} SET rev = ?, head = ?, n = ?, ${remembering.sql}, updated_at = UTC_TIMESTAMP(6), used_at = ${NOW},
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
