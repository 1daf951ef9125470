import type { Slot } from "@holdfast/core";
import { describeSlot } from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";
import { deleteEmptyRow } from "./state-row.js";

/** Deletes the state of a slot; whether there was one. Its log and lease stay. */
export function deleteState(database: Database, slot: Slot): Promise<boolean> {
  const { tables } = database;
  const k = slotHash(slot);
  return database.transaction(`deleting ${describeSlot(slot)}`, async (tx) => {
    const { affectedRows } = await tx.write(
      `UPDATE ${tables.slots} SET rev = NULL, head = NULL, n = 0, ops = '', updated_at = NULL WHERE k = ? AND rev IS NOT NULL`,
      [k],
    );
    if (affectedRows === 0) return false;
    await tx.write(`DELETE FROM ${tables.messages} WHERE k = ?`, [k]);
    await tx.write(deleteEmptyRow(tables), [k]);
    return true;
  });
}
