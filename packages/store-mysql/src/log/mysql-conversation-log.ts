import type { ConversationLog, LogRecord, Slot } from "@holdfast/core";
import {
  checkSlot,
  describeSlot,
  type LogDraft,
  type LogFinds,
  type LogQuery,
  type LogRange,
  type LogSessionPage,
  type LogSessionQuery,
} from "@holdfast/core/store-kit";
import { Database } from "../connection/database.js";
import { openDatabase } from "../connection/open-database.js";
import { removeExpired } from "../expiry/expired-sessions.js";
import { NOW } from "../expiry/last-use.js";
import { slotHash } from "../keys.js";
import { LISTED_NOW } from "../listing/list-position.js";
import { type MysqlPartOptions, partOptions, readOptions } from "../options.js";
import { SLOT_COLUMNS, slotValues } from "../state/state-row.js";
import { insertLog, prepareLog } from "./append-log.js";
import { deleteLog } from "./delete-log.js";
import { readBlob, writeBlobs } from "./log-blobs.js";
import { listSessions } from "./logged-sessions.js";
import { readLog } from "./read-log.js";
import { searchLog } from "./search-log.js";

/**
 * Stores the conversation log in MySQL or MariaDB, for any number of nodes.
 *
 * Contract, beyond {@link ConversationLog}'s:
 * - An append is one transaction: a reader sees all of its records or none, and those of a slot appear in the order of
 *   their seqs. A record of any age is recognised when it is appended again.
 * - Sessions are listed and searched newest first, to the minute. One that is written to between two pages moves to the front:
 *   later pages may miss it, and a search that continues from it sees others again.
 * - A search reads at most 200,000 records and 64 MB within half of `commandTimeoutMs`, and then returns where to continue. It
 *   starts over when the session to continue from was deleted meanwhile.
 * - Constructing does no I/O; the pool stays the caller's.
 *
 * @example
 * const log = new MysqlConversationLog({ pool });
 */
export class MysqlConversationLog implements ConversationLog {
  readonly contract = 1;
  readonly kind = "mysql";
  readonly reach = "distributed";
  readonly #database: Database;

  /**
   * @param options - or a `Database` shared by several parts
   * @throws ConfigurationError
   */
  constructor(options: MysqlPartOptions | Database) {
    this.#database =
      options instanceof Database
        ? options
        : openDatabase(readOptions("MysqlConversationLog", options, partOptions));
  }

  async append(slot: Slot, records: readonly LogDraft[]): Promise<void> {
    const owner = checkSlot(slot);
    const prepared = prepareLog(owner, records);
    const count = prepared.records.length;
    if (count === 0) return;
    const { tables } = this.#database;
    const what = `appending to the log of ${describeSlot(owner)}`;
    await removeExpired(this.#database, owner);
    await writeBlobs(this.#database, owner, prepared.blobs);
    await this.#database.transaction(what, async (tx) => {
      // Locks the slot's row until the end: seqs of a slot become visible in order.
      const { insertId: lastSeq } = await tx.write(
        `INSERT INTO ${tables.slots} (${SLOT_COLUMNS}, listed_at, used_at, log_seq) VALUES (?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6), ${NOW}, LAST_INSERT_ID(?)) ON DUPLICATE KEY UPDATE used_at = ${NOW}, listed_at = ${LISTED_NOW}, log_seq = LAST_INSERT_ID(log_seq + ?)`,
        [...slotValues(owner), count, count],
      );
      await insertLog(tx, tables, slotHash(owner), lastSeq, prepared);
    });
  }

  async read(slot: Slot, range: LogRange = {}): Promise<readonly LogRecord[]> {
    return readLog(this.#database, checkSlot(slot), range);
  }

  async readBlob(slot: Slot, ref: string): Promise<string | null> {
    return readBlob(this.#database, checkSlot(slot), ref);
  }

  async search(query: LogQuery): Promise<LogFinds> {
    return searchLog(this.#database, query);
  }

  async sessions(query: LogSessionQuery): Promise<LogSessionPage> {
    return listSessions(this.#database, query);
  }

  async delete(slot: Slot): Promise<boolean> {
    return deleteLog(this.#database, checkSlot(slot));
  }
}
