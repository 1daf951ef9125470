import type {
  AgentStateStore,
  DistributedStore,
  Revision,
  Slot,
  SlotPage,
  SlotQuery,
} from "@holdfast/core";
import {
  checkSlot,
  describeSlot,
  ExpirySweep,
  type Inbox,
  type LoadAnswer,
  type SessionExpiry,
  type StateWrite,
} from "@holdfast/core/store-kit";
import type { Database } from "../connection/database.js";
import { openDatabase } from "../connection/open-database.js";
import { ExpiredSessions } from "../expiry/expired-sessions.js";
import { MysqlEventFeed } from "../feed/mysql-event-feed.js";
import { MysqlSessionGate } from "../gate/mysql-session-gate.js";
import { MysqlInbox } from "../inbox/mysql-inbox.js";
import { MysqlKeyValueStore } from "../key-value/mysql-key-value-store.js";
import { slotHash } from "../keys.js";
import { listSlots } from "../listing/list-slots.js";
import { MysqlConversationLog } from "../log/mysql-conversation-log.js";
import {
  type MysqlExpiryOptions,
  type MysqlLeaseOptions,
  type MysqlPartOptions,
  readOptions,
  storeOptions,
} from "../options.js";
import { MysqlSignalBus } from "../signals/mysql-signal-bus.js";
import { loadState } from "./load-state.js";
import { prepareWrite } from "./prepare-write.js";
import { saveState } from "./save-state.js";
import { deleteEmptyRow, NO_STATE } from "./state-row.js";

/** Options of {@link MysqlAgentStateStore}. */
export interface MysqlStoreOptions
  extends MysqlPartOptions,
    MysqlLeaseOptions,
    MysqlExpiryOptions {}

/** The parts beside the store, on the same database. */
export interface MysqlCompanions extends DistributedStore {
  readonly stateStore: MysqlAgentStateStore;
  readonly log: MysqlConversationLog;
  readonly keyValue: MysqlKeyValueStore;
  readonly gate: MysqlSessionGate;
  readonly signals: MysqlSignalBus;
  readonly eventFeed: MysqlEventFeed;
}

/**
 * Stores agent states in MySQL 8 or MariaDB 10.6 and later, for any number of nodes.
 *
 * Contract, beyond {@link AgentStateStore}'s:
 * - A save is one transaction over state, log, inbox and lease; it sends what changed, whatever the length of the session.
 * - An acknowledged save is as durable as the server's commits (`innodb_flush_log_at_trx_commit = 1`).
 * - Constructing does no I/O. The tables are created when first needed, unless `migrate` is false.
 * - The pool stays the caller's: `close` ends timers, not the pool.
 *
 * @example
 * const store = new MysqlAgentStateStore({ pool: createPool(process.env["MYSQL_URL"]) });
 */
export class MysqlAgentStateStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "mysql";
  readonly reach = "distributed";
  readonly keepsCallRecords = true;
  readonly inbox: Inbox;
  /** Gate and log of {@link companions}, which a save writes in the same transaction. */
  readonly fuses: { readonly gate: MysqlSessionGate; readonly log: MysqlConversationLog };
  /** Present with `ttlMs`. */
  readonly expiry: SessionExpiry | undefined;
  readonly #database: Database;
  readonly #sweep: ExpirySweep | undefined;
  readonly #gate: MysqlSessionGate;
  readonly #signals: MysqlSignalBus;
  readonly #companions: MysqlCompanions;

  /** @throws ConfigurationError */
  constructor(options: MysqlStoreOptions) {
    const resolved = readOptions("MysqlAgentStateStore", options, storeOptions);
    const { pool, leaseMs, nodeTimeoutMs, signalPollMs, ttlMs } = resolved;
    this.#database = openDatabase(resolved, () => this.#sweep?.start());
    this.expiry = ttlMs === undefined ? undefined : { ttlMs };
    this.#sweep = ttlMs === undefined ? undefined : sweepOf(this.#database, ttlMs);
    this.inbox = new MysqlInbox(this.#database);
    this.#gate = new MysqlSessionGate({ pool, leaseMs, nodeTimeoutMs }, this.#database);
    this.#signals = new MysqlSignalBus(
      { pool, leaseMs, signalPollMs, gate: this.#gate },
      this.#database,
    );
    this.#companions = {
      stateStore: this,
      log: new MysqlConversationLog(this.#database),
      keyValue: new MysqlKeyValueStore(this.#database),
      gate: this.#gate,
      signals: this.#signals,
      eventFeed: new MysqlEventFeed(this.#database),
    };
    this.fuses = { gate: this.#gate, log: this.#companions.log };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadAnswer> {
    return loadState(this.#database, checkSlot(slot), known);
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    const prepared = prepareWrite(owner, write);
    const save = () => saveState(this.#database.going("ending"), owner, prepared);
    if (prepared.lease === undefined || !prepared.release) return save();
    return this.#gate.whileReleasing(prepared.lease, save);
  }

  async delete(slot: Slot): Promise<boolean> {
    const owner = checkSlot(slot);
    const wasThere = await deleteState(this.#database, owner);
    this.#gate.stateDeleted(owner);
    return wasThere;
  }

  async list(query: SlotQuery = {}): Promise<SlotPage> {
    return listSlots(this.#database, query);
  }

  companions(): MysqlCompanions {
    return this.#companions;
  }

  /** Ends the timers of gate and signals; the pool is the caller's. */
  async close(): Promise<void> {
    const { eventFeed } = this.#companions;
    const parts = [this.#gate, this.#signals, eventFeed];
    await Promise.all([...parts.map((part) => part.close()), this.#sweep?.stop()]);
  }
}

function sweepOf(database: Database, ttlMs: number): ExpirySweep {
  const expired = new ExpiredSessions(database);
  return new ExpirySweep(ttlMs, () => expired.sweep());
}

/** Presence of a state, as the statement reports it through `LAST_INSERT_ID`. */
const [ABSENT, THERE] = [1, 2];

/** Deletes the state of a slot, with its inbox, and returns whether there was one. Its log and lease stay. */
function deleteState(database: Database, slot: Slot): Promise<boolean> {
  const { tables } = database;
  const k = slotHash(slot);
  return database.transaction(`deleting ${describeSlot(slot)}`, async (tx) => {
    const { affectedRows, insertId } = await tx.write(
      `UPDATE ${tables.slots} SET waiting = waiting + 0 * LAST_INSERT_ID(IF(rev IS NULL, ${ABSENT}, ${THERE})), ${NO_STATE} WHERE k = ? AND (rev IS NOT NULL OR inbox IS NOT NULL)`,
      [k],
    );
    if (affectedRows === 0) return false;
    for (const table of [tables.messages, tables.ledger, tables.inbox, tables.calls])
      await tx.write(`DELETE FROM ${table} WHERE k = ?`, [k]);
    await tx.write(deleteEmptyRow(tables), [k]);
    return insertId === THERE;
  });
}
