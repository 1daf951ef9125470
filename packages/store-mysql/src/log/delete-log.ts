import type { Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";
import { deleteEmptyRow } from "../state/state-row.js";

/** Rows that one statement deletes: a long log takes several, each within its time. */
const BATCH_ROWS = 500;

/**
 * Deletes the log of a slot, long texts included; whether there was anything. Interrupted half way, it is to be repeated.
 */
export async function deleteLog(database: Database, slot: Slot): Promise<boolean> {
  const { log, blobs, slots } = database.tables;
  const what = `deleting the log of ${describeSlot(slot)}`;
  const k = slotHash(slot);
  let deleted = 0;
  // Records before the texts they name.
  for (const [table, order] of [
    [log, "seq"],
    [blobs, "ref, chunk"],
  ] as const) {
    const sql = `DELETE FROM ${table} WHERE k = ? ORDER BY ${order} LIMIT ${BATCH_ROWS}`;
    for (let rows = BATCH_ROWS; rows === BATCH_ROWS; deleted += rows)
      rows = (await database.write(what, sql, [k])).affectedRows;
  }
  // What was appended meanwhile, with the slot's row held, so that nothing comes between.
  const rest = await database.transaction(what, async (tx) => {
    const row = await tx.write(`UPDATE ${slots} SET log_seq = 0 WHERE k = ? AND log_seq > 0`, [k]);
    if (row.affectedRows === 0) return 0;
    const records = await tx.write(`DELETE FROM ${log} WHERE k = ?`, [k]);
    await tx.write(`DELETE FROM ${blobs} WHERE k = ?`, [k]);
    await tx.write(deleteEmptyRow(database.tables), [k]);
    return records.affectedRows;
  });
  return deleted + rest > 0;
}
