import type { Revision, Slot } from "@holdfast/core";
import { describeSlot, leaseLost, stateConflict } from "@holdfast/core/store-kit";
import { asBytesOrNone, asNumberOrZero, asTextOrNull } from "../connection/cells.js";
import { compound } from "../connection/compound.js";
import type { Database, Transaction } from "../connection/database.js";
import type { WriteResult } from "../connection/session.js";
import { removeExpired } from "../expiry/expired-sessions.js";
import { andUnexpired, NOW } from "../expiry/last-use.js";
import { FIRST_VARIABLES, settlingFirst } from "../inbox/first-entry.js";
import { removeEntries } from "../inbox/remove-entries.js";
import { slotHash, type Tables } from "../keys.js";
import { insertingLog, insertLog } from "../log/append-log.js";
import { writeBlobs } from "../log/log-blobs.js";
import { CALL_VARIABLES, keepingRows, keepRows } from "./call-rows.js";
import { insertingLedger, OP_VARIABLES, readingOps, refusingOp } from "./ledger-rows.js";
import { deleteMessages, insertingMessages, storedBytes, writeMessages } from "./message-rows.js";
import { revisionInRing } from "./op-ring.js";
import type { PreparedWrite } from "./prepare-write.js";
import { SLOT_COLUMNS, slotValues } from "./state-row.js";
import { updatingRow } from "./update-row.js";

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
  if (write.takes.length > 1 || knowsCompounds) await removeEntries(tx, tables, k, write.takes);
  await deleteMessages(tx, tables, k, write.count, stored);
  const isLogged = await insertLog(tx, tables, k, insertId, write.log);
  const firstSeq = insertId - write.log.records.length + 1;
  await writeMessages(tx, tables, k, write.rows, isLogged ? firstSeq : undefined);
  if (knowsCompounds) {
    const { sql, values } = insertingLedger(tables, k, write);
    await tx.write(sql, values);
    await keepRows(tx, tables, k, write);
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
  const bytes = rows.reduce((sum, row) => sum + storedBytes(row), head.length);
  return (
    (expected !== null || lease !== undefined) &&
    takes.length <= 1 &&
    rows.length <= MESSAGES_AT_ONCE &&
    log.records.length <= RECORDS_AT_ONCE &&
    log.blobs.size === 0 &&
    log.records.every(({ body }) => body.start === undefined) &&
    log.records.reduce((sum, { body }) => sum + body.text.length, bytes) <= BYTES_AT_ONCE
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
  const seqOfRecord = `v_last_id - ${write.log.records.length - 1} + ?`;
  const rest = [
    refusingOp(tables, k, write.op),
    ...(write.log.records.length > 0 ? [insertingLog(tables, k, "v_last_id", write.log)] : []),
    ...(write.rows.length > 0 ? [insertingMessages(tables, k, write.rows, seqOfRecord)] : []),
    insertingLedger(tables, k, write),
    settlingFirst(tables, k, write.takes[0]),
    ...keepingRows(tables, k, write),
  ];
  const sql = rest.map((statement) => statement.sql);
  const values = [first, ...rest].flatMap((statement) => statement.values);
  const statement = compound(first.sql, sql, [
    ...OP_VARIABLES,
    ...FIRST_VARIABLES,
    ...CALL_VARIABLES,
  ]);
  return (await database.compound(what, statement, values)) !== null;
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

interface FoundRow {
  readonly revision: Revision | null;
  readonly count: number;
  readonly ops: Buffer;
  /** Token of the current lease. */
  readonly lease: string | null;
}

async function readRow(tx: Transaction, database: Database, k: Buffer): Promise<FoundRow> {
  const [row = []] = await tx.read(
    `SELECT rev, n, ops, IF(lease_until > UTC_TIMESTAMP(6), lease_holder, NULL) FROM ${database.tables.slots} WHERE k = ?${andUnexpired(database)} FOR UPDATE`,
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
