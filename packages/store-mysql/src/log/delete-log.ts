import type { Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";
import { copyBackTexts } from "../state/message-rows.js";
import { deleteEmptyRow } from "../state/state-row.js";

/** Rows deleted per transaction: a long log takes several, each within its deadline. */
const BATCH_ROWS = 500;

/**
 * Deletes the log of a slot, long texts included; returns whether there was one. Repeat it when it was interrupted.
 *
 * Whatever deletes records copies the texts that the state refers to back to it first, in the same transaction, with the slot's row
 * locked so that no save refers to others meanwhile. The state is the same, and so is its revision.
 */
export async function deleteLog(database: Database, slot: Slot): Promise<boolean> {
  const { tables } = database;
  const { log, blobs, slots } = tables;
  const what = `deleting the log of ${describeSlot(slot)}`;
  const k = slotHash(slot);
  const deleteRecords = (): Promise<number> =>
    database.transaction(what, async (tx) => {
      await tx.read(`SELECT 1 FROM ${slots} WHERE k = ? FOR UPDATE`, [k]);
      await copyBackTexts(tx, tables, k);
      const sql = `DELETE FROM ${log} WHERE k = ? ORDER BY record_seq LIMIT ${BATCH_ROWS}`;
      return (await tx.write(sql, [k])).affectedRows;
    });
  const deleteTexts = async (): Promise<number> => {
    const sql = `DELETE FROM ${blobs} WHERE k = ? ORDER BY ref, chunk LIMIT ${BATCH_ROWS}`;
    return (await database.write(what, sql, [k])).affectedRows;
  };
  // Records before the long texts they name.
  const deleted = (await untilNone(deleteRecords)) + (await untilNone(deleteTexts));
  // Deletes what was appended meanwhile, with the slot's row locked so that nothing is appended in between.
  const rest = await database.transaction(what, async (tx) => {
    const row = await tx.write(`UPDATE ${slots} SET log_seq = 0 WHERE k = ? AND log_seq > 0`, [k]);
    if (row.affectedRows === 0) return 0;
    await copyBackTexts(tx, tables, k);
    const records = await tx.write(`DELETE FROM ${log} WHERE k = ?`, [k]);
    await tx.write(`DELETE FROM ${blobs} WHERE k = ?`, [k]);
    await tx.write(deleteEmptyRow(tables), [k]);
    return records.affectedRows;
  });
  return deleted + rest > 0;
}

/** Deletes batches until one is not full, and returns the number of rows deleted. */
async function untilNone(deleteBatch: () => Promise<number>): Promise<number> {
  let deleted = 0;
  for (let rows = BATCH_ROWS; rows === BATCH_ROWS; deleted += rows) rows = await deleteBatch();
  return deleted;
}
