import type { Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import { asNumberOrZero } from "../connection/cells.js";
import type { Database, Transaction } from "../connection/database.js";
import { slotHash, type Tables } from "../keys.js";
import { copyBackTexts } from "../state/message-rows.js";
import { deleteEmptyRow } from "../state/state-row.js";

/** Rows deleted per statement: a long log takes several, each within its deadline. */
const BATCH_ROWS = 500;

/**
 * Deletes the log of a slot, long texts included; returns whether there was one. Repeat it when it was interrupted.
 *
 * Texts that a state refers to are copied to it first, without a new revision, as the state is the same. No record is
 * deleted that was appended behind that, until the slot's row is locked and they are copied once more.
 */
export async function deleteLog(database: Database, slot: Slot): Promise<boolean> {
  const { log, blobs, slots } = database.tables;
  const what = `deleting the log of ${describeSlot(slot)}`;
  const k = slotHash(slot);
  const last = await database.transaction(what, (tx) => freeRecords(tx, database.tables, k));
  const remove = async (sql: string, values: readonly (Buffer | number)[]): Promise<number> => {
    let deleted = 0;
    for (let rows = BATCH_ROWS; rows === BATCH_ROWS; deleted += rows)
      rows = (await database.write(what, `${sql} LIMIT ${BATCH_ROWS}`, values)).affectedRows;
    return deleted;
  };
  // Records before the long texts they name.
  const deleted =
    (await remove(`DELETE FROM ${log} WHERE k = ? AND record_seq <= ? ORDER BY record_seq`, [
      k,
      last,
    ])) + (await remove(`DELETE FROM ${blobs} WHERE k = ? ORDER BY ref, chunk`, [k]));
  // Deletes what was appended meanwhile, with the slot's row locked so that nothing is appended in between.
  const rest = await database.transaction(what, async (tx) => {
    const row = await tx.write(`UPDATE ${slots} SET log_seq = 0 WHERE k = ? AND log_seq > 0`, [k]);
    if (row.affectedRows === 0) return 0;
    await copyBackTexts(tx, database.tables, k);
    const records = await tx.write(`DELETE FROM ${log} WHERE k = ?`, [k]);
    await tx.write(`DELETE FROM ${blobs} WHERE k = ?`, [k]);
    await tx.write(deleteEmptyRow(database.tables), [k]);
    return records.affectedRows;
  });
  return deleted + rest > 0;
}

/** Makes a state hold all texts that it refers to, and returns the last seq of its log then. */
async function freeRecords(tx: Transaction, tables: Tables, k: Buffer): Promise<number> {
  const [row] = await tx.read(`SELECT log_seq FROM ${tables.slots} WHERE k = ? FOR UPDATE`, [k]);
  if (row !== undefined) await copyBackTexts(tx, tables, k);
  return asNumberOrZero(row?.[0]);
}
