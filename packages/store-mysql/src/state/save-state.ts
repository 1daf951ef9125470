import { describeSlot, leaseLost, type Revision, type Slot, stateConflict } from "@holdfast/core";
import { asBytes, asNumber, asTextOrNull } from "../connection/cells.js";
import type { Database, Transaction } from "../connection/database.js";
import { rowBatches } from "../connection/row-batches.js";
import type { WriteResult } from "../connection/session.js";
import { slotHash, type Tables } from "../keys.js";
import { LISTED_NOW } from "../listing/list-position.js";
import { insertLog } from "../log/append-log.js";
import { writeBlobs } from "../log/log-blobs.js";
import { opHash, RING_BYTES, revisionInRing } from "./op-ring.js";
import type { MessageRow, PreparedWrite } from "./prepare-write.js";
import { SLOT_COLUMNS, slotValues } from "./state-row.js";

/**
 * Writes state, log and lease in one transaction.
 *
 * The first statement takes the slot's row, so that savers of a slot come one after another, and writes only if the
 * revision, the op and the lease are right and exactly the kept messages are stored: that is a turn that appends. What
 * else it may be is found out only when it was not that.
 */
export async function saveState(
  database: Database,
  slot: Slot,
  write: PreparedWrite,
): Promise<Revision> {
  const what = `saving ${describeSlot(slot)}`;
  const { tables } = database;
  const k = slotHash(slot);
  await writeBlobs(database, slot, write.log.blobs);
  return database.transaction(what, async (tx) => {
    // A lease has made the row. Without one, looking for a row that is not there would lock the gap for everybody else.
    if (write.expected === null && write.lease === undefined) await makeRow(tx, tables, slot);
    let stored = write.keep;
    let { affectedRows, insertId } = await updateRow(tx, tables, k, write, stored);
    if (affectedRows === 0) {
      const found = await readRow(tx, tables, k);
      const repeated = revisionInRing(found.ops, write.op);
      if (repeated !== undefined) return repeated;
      if (write.lease !== undefined && found.lease !== write.lease) throw leaseLost(slot);
      if (found.revision !== write.expected)
        throw stateConflict(slot, write.expected, found.revision);
      write.checkFits(found.count);
      stored = found.count;
      ({ affectedRows, insertId } = await updateRow(tx, tables, k, write, stored));
      // The row is ours since it was read: only the lease's time can have run out in between.
      if (affectedRows === 0) throw leaseLost(slot);
    }
    await dropMessages(tx, tables, k, write.count, stored);
    await putMessages(tx, tables, k, write.rows);
    await insertLog(tx, tables, k, insertId, write.log);
    return write.revision;
  });
}

function makeRow(tx: Transaction, { slots }: Tables, slot: Slot): Promise<WriteResult> {
  return tx.write(
    `INSERT INTO ${slots} (${SLOT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) ON DUPLICATE KEY UPDATE k = k`,
    slotValues(slot),
  );
}

function updateRow(
  tx: Transaction,
  { slots }: Tables,
  k: Buffer,
  write: PreparedWrite,
  stored: number,
): Promise<WriteResult> {
  const ending = write.release
    ? ", lease_token = NULL, lease_call = NULL, lease_until = NULL, lease_signals = NULL"
    : "";
  const holding =
    write.lease === undefined ? "" : " AND lease_token = ? AND lease_until > UTC_TIMESTAMP(6)";
  return tx.write(
    `UPDATE ${slots} SET rev = ?, head = ?, n = ?, ops = LEFT(CONCAT(?, ops), ${RING_BYTES}), updated_at = UTC_TIMESTAMP(6),
listed_at = ${LISTED_NOW},
log_seq = LAST_INSERT_ID(log_seq + ?)${ending}
WHERE k = ? AND rev <=> ? AND n = ? AND LOCATE(UNHEX(?), ops) = 0${holding}`,
    [
      Buffer.from(write.revision, "utf8"),
      write.head,
      write.count,
      write.opEntry,
      write.log.records.length,
      k,
      write.expected === null ? null : Buffer.from(write.expected, "utf8"),
      stored,
      // As text: what a server takes bare bytes for in such a place differs.
      opHash(write.op).toString("hex"),
      ...(write.lease === undefined ? [] : [Buffer.from(write.lease, "utf8")]),
    ],
  );
}

interface FoundRow {
  readonly revision: Revision | null;
  readonly count: number;
  readonly ops: Buffer;
  /** Of the lease that holds the slot now. */
  readonly lease: string | null;
}

async function readRow(tx: Transaction, { slots }: Tables, k: Buffer): Promise<FoundRow> {
  const [row = []] = await tx.read(
    `SELECT rev, n, ops, IF(lease_until > UTC_TIMESTAMP(6), lease_token, NULL) FROM ${slots} WHERE k = ? FOR UPDATE`,
    [k],
  );
  const [revision, count, ops, lease] = row;
  return {
    revision: asTextOrNull(revision),
    count: asNumber(count),
    ops: asBytes(ops),
    lease: asTextOrNull(lease),
  };
}

/** How many positions one DELETE names. */
const DROPPED_AT_ONCE = 64;

/** Puts messages at their places, over those that are there. */
async function putMessages(
  tx: Transaction,
  { messages }: Tables,
  k: Buffer,
  rows: readonly MessageRow[],
): Promise<void> {
  for (const batch of rowBatches(rows, ({ body }) => body.length)) {
    const places = batch.map(() => "(?, ?, ?)").join(", ");
    await tx.write(
      `INSERT INTO ${messages} (k, pos, body) VALUES ${places} ON DUPLICATE KEY UPDATE body = VALUES(body)`,
      batch.flatMap(({ pos, body }) => [k, pos, body]),
    );
  }
}

/**
 * Removes the messages at `from` and after, up to but not at `to`.
 *
 * By naming each place, not as a range: a range would also lock the gap behind it, where the next slot's messages go, and
 * two such savers would stop each other.
 */
async function dropMessages(
  tx: Transaction,
  { messages }: Tables,
  k: Buffer,
  from: number,
  to: number,
): Promise<void> {
  const marks = Array.from({ length: DROPPED_AT_ONCE }, () => "?").join(", ");
  for (let start = from; start < to; start += DROPPED_AT_ONCE) {
    const places = Array.from({ length: DROPPED_AT_ONCE }, (_, index) =>
      Math.min(start + index, to - 1),
    );
    await tx.write(`DELETE FROM ${messages} WHERE k = ? AND pos IN (${marks})`, [k, ...places]);
  }
}
