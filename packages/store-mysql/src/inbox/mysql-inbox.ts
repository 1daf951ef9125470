import type { Slot } from "@holdfast/core";
import {
  checkSlot,
  describeSlot,
  type Inbox,
  type InboxEntry,
  inboxFull,
} from "@holdfast/core/store-kit";
import { asBytesOrNone, readingOf } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { removeExpired } from "../expiry/expired-sessions.js";
import { andUnexpired, NOW } from "../expiry/last-use.js";
import { slotHash } from "../keys.js";
import { deleteEmptyRow, SLOT_COLUMNS, slotValues } from "../state/state-row.js";
import { allEntries } from "./first-entry.js";
import { canPut, PUTTING, prepareEntry, puttingValues, readInbox } from "./inbox-column.js";
import { removeEntries } from "./remove-entries.js";

/** Result of a put, as its statement reports it through `LAST_INSERT_ID`. */
const [DONE, FULL] = [1, 2];

/** Inbox in the slots' rows. */
export class MysqlInbox implements Inbox {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async put(slot: Slot, entry: InboxEntry): Promise<void> {
    const owner = checkSlot(slot);
    const prepared = prepareEntry(owner, entry);
    const result = canPut(prepared);
    await removeExpired(this.#database, owner);
    const { insertId } = await this.#database.write(
      `putting an entry into the inbox of ${describeSlot(owner)}`,
      `INSERT INTO ${this.#database.tables.slots} (${SLOT_COLUMNS}, inbox, unfinished, listed_at, used_at, waiting) VALUES (?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6), ${NOW}, 0 * LAST_INSERT_ID(${DONE}))
ON DUPLICATE KEY UPDATE used_at = ${NOW}, waiting = waiting + 0 * LAST_INSERT_ID(IF(${result.sql} = 1, ${DONE}, ${FULL})), ${PUTTING}`,
      [
        ...[...slotValues(owner), prepared.bytes, prepared.isInput ? 1 : 0],
        ...[...result.values, ...puttingValues(prepared)],
      ],
    );
    if (insertId === FULL) throw inboxFull(owner);
  }

  async read(slot: Slot): Promise<readonly InboxEntry[]> {
    const owner = checkSlot(slot);
    const [row] = await this.#database.read(
      `reading the inbox of ${describeSlot(owner)}`,
      `SELECT ${allEntries(this.#database.tables)} FROM ${this.#database.tables.slots} WHERE k = ?${andUnexpired(this.#database)}`,
      [slotHash(owner)],
    );
    const what = `the inbox of ${describeSlot(owner)}`;
    return readInbox(
      owner,
      readingOf(what, () => asBytesOrNone(row?.[0])),
    );
  }

  async remove(slot: Slot, ids: readonly string[]): Promise<void> {
    const owner = checkSlot(slot);
    if (ids.length === 0) return;
    const what = `removing entries from the inbox of ${describeSlot(owner)}`;
    const { tables } = this.#database;
    await this.#database.transaction(what, async (tx) => {
      await removeEntries(tx, tables, slotHash(owner), ids);
      await tx.write(deleteEmptyRow(tables), [slotHash(owner)]);
    });
  }
}
