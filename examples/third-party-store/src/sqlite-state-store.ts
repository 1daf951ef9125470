import {
  type AgentStateStore,
  type DistributedStore,
  InvalidInputError,
  type Message,
  type Revision,
  type Slot,
  type SlotInfo,
  type SlotPage,
  type SlotQuery,
  StateCorruptError,
} from "@holdfast/core";
import {
  boundedRead,
  boundedWrite,
  checkLimit,
  checkSlot,
  checkWrite,
  describeSlot,
  documentStore,
  type LoadedState,
  matchInfo,
  matchSlot,
  nextRevision,
  type OpLedger,
  refuseFusedParts,
  revisionOfOp,
  type StateWrite,
  slotKey,
  stateConflict,
  withCallRecord,
  withOp,
} from "@holdfast/core/store-kit";
import type { DatabaseSyncInstance as Database } from "@photostructure/sqlite";
import { openDatabase, sqliteClient } from "./sqlite-client.js";

const TIMEOUT_MS = 5_000;
/** Rows that a page looks at, however few of them a query selects. */
const MAX_ROWS = 10_000;

/** Everything about a session but its messages. */
interface SlotRow {
  readonly key: string;
  readonly slot: string;
  readonly revision: Revision;
  /** Head, call records and ledger of saves, as JSON. */
  readonly head: string;
  readonly info: string | null;
  readonly count: number;
  readonly updatedAt: number;
  /** Number of the save among all of the store: the order of listings. */
  readonly save: number;
}

interface Head {
  readonly head: LoadedState["head"];
  readonly ops: OpLedger;
  readonly callRecords: NonNullable<LoadedState["callRecords"]>;
}

/**
 * Keeps states in SQLite, one row per message: a save costs what changed, not what the session holds. The parts beside the
 * states are those of `documentStore`.
 */
export class SqliteStateStore implements AgentStateStore {
  readonly contract = 1;
  readonly kind = "sqlite";
  readonly reach = "host";
  readonly keepsCallRecords = true;
  readonly #database: Database;
  readonly #parts: DistributedStore;
  readonly #documents: AgentStateStore;

  constructor(database: Database) {
    this.#database = database;
    database.exec(`
      CREATE TABLE IF NOT EXISTS slots (key TEXT PRIMARY KEY, slot TEXT, revision TEXT, head TEXT, info TEXT,
        count INTEGER, updatedAt INTEGER, save INTEGER);
      CREATE INDEX IF NOT EXISTS slots_by_save ON slots (save);
      CREATE TABLE IF NOT EXISTS messages (key TEXT, place INTEGER, json TEXT, PRIMARY KEY (key, place)) WITHOUT ROWID`);
    const times = { nodeTimeoutMs: 2_000, pollMs: 20 };
    const options = { kind: "sqlite", reach: "host", ...times } as const;
    this.#documents = documentStore(sqliteClient(database), options);
    const parts = this.#documents.companions?.() as DistributedStore;
    this.#parts = { ...parts, stateStore: this };
  }

  async load(slot: Slot, known?: Revision): Promise<LoadedState | "unchanged" | null> {
    const owner = checkSlot(slot);
    return boundedRead(`loading ${describeSlot(owner)}`, TIMEOUT_MS, async () =>
      // One transaction, so that row and messages belong together.
      this.#transaction("DEFERRED", () => {
        const row = this.#row(slotKey(owner));
        if (row === undefined) return null;
        if (row.revision === known) return "unchanged";
        const { ops: _, ...head } = parse<Head>(owner, row.head);
        const info = row.info === null ? {} : { info: parse<object>(owner, row.info) };
        return { revision: row.revision, ...head, ...info, messages: this.#messages(owner, row) };
      }),
    );
  }

  async save(slot: Slot, write: StateWrite): Promise<Revision> {
    const owner = checkSlot(slot);
    refuseFusedParts(owner, write);
    return boundedWrite(`saving ${describeSlot(owner)}`, TIMEOUT_MS, async () =>
      this.#transaction("IMMEDIATE", () => this.#save(owner, write)),
    );
  }

  async delete(slot: Slot): Promise<boolean> {
    const owner = checkSlot(slot);
    return boundedWrite(`deleting ${describeSlot(owner)}`, TIMEOUT_MS, async () =>
      this.#transaction("IMMEDIATE", () => {
        this.#run("DELETE FROM messages WHERE key = ?", slotKey(owner));
        return this.#run("DELETE FROM slots WHERE key = ?", slotKey(owner)) === 1;
      }),
    );
  }

  /**
   * First the sessions as they were when the listing began, newest first; then those saved since, by key, an order that no save
   * changes: none is missed.
   */
  async list(query: SlotQuery = {}): Promise<SlotPage> {
    const limit = checkLimit(query.limit, 100);
    const isSelected = matches(query);
    const at = readCursor(query.cursor);
    return boundedRead("listing sessions", TIMEOUT_MS, async () => {
      const newest = this.#database.prepare("SELECT max(save) AS save FROM slots").get();
      const pin = at?.pin ?? Number(newest?.["save"] ?? 0);
      const slots: SlotInfo[] = [];
      let position = { pin, before: at?.before ?? pin + 1, after: at?.after ?? "" };
      for (let seen = 0; slots.length < limit && seen < MAX_ROWS; seen++) {
        const row = this.#next(position);
        if (row === undefined) return { slots };
        position =
          row.save <= pin ? { ...position, before: row.save } : { ...position, after: row.key };
        const listed = listedSession(row);
        if (isSelected(listed)) slots.push(listed);
      }
      return this.#next(position) ? { slots, cursor: JSON.stringify(position) } : { slots };
    });
  }

  companions(): DistributedStore {
    return this.#parts;
  }

  /** The database is the caller's. */
  async close(): Promise<void> {
    await this.#documents.close();
  }

  #save(slot: Slot, write: StateWrite): Revision {
    const key = slotKey(slot);
    const row = this.#row(key);
    const { ops = [], callRecords = [] } = row ? parse<Head>(slot, row.head) : {};
    const repeated = revisionOfOp(ops, write.op);
    if (repeated !== undefined) return repeated;
    const stored = row?.revision ?? null;
    if (stored !== write.expected) throw stateConflict(slot, write.expected, stored);
    checkWrite(write, row?.count ?? 0, slot);
    const revision = write.revision ?? nextRevision(stored);
    this.#run("DELETE FROM messages WHERE key = ? AND place >= ?", key, write.keep);
    const put = this.#database.prepare("INSERT OR REPLACE INTO messages VALUES (?, ?, ?)");
    for (const [place, message] of write.replace) put.run(key, place, JSON.stringify(message));
    for (const [index, message] of write.append.entries())
      put.run(key, write.keep + index, JSON.stringify(message));
    const { record, keep = 0 } = write.callRecord ?? {};
    const head: Head = {
      head: write.head,
      ops: withOp(ops, write.op, revision),
      callRecords: record ? withCallRecord(callRecords, record, keep) : callRecords,
    };
    this.#run(
      `INSERT OR REPLACE INTO slots VALUES (?, ?, ?, ?, ?, ?, ?, 1 + (SELECT coalesce(max(save), 0) FROM slots))`,
      ...[key, JSON.stringify(slot), revision, JSON.stringify(head)],
      write.info === undefined ? (row?.info ?? null) : JSON.stringify(write.info),
      ...[write.keep + write.append.length, Date.now()],
    );
    return revision;
  }

  #messages(slot: Slot, { key, count }: SlotRow): Message[] {
    const rows = this.#database.prepare("SELECT json FROM messages WHERE key = ? ORDER BY place");
    const messages = rows.all(key).map(({ json }: { json: string }) => parse<Message>(slot, json));
    if (messages.length === count) return messages;
    throw new StateCorruptError(`${describeSlot(slot)} is damaged: messages are missing`);
  }

  #row(key: string): SlotRow | undefined {
    return this.#database.prepare("SELECT * FROM slots WHERE key = ?").get(key) as
      | SlotRow
      | undefined;
  }

  #next({ pin, before, after }: ListPosition): SlotRow | undefined {
    const inPlace = "SELECT * FROM slots WHERE save < ? AND save <= ? ORDER BY save DESC LIMIT 1";
    const since = "SELECT * FROM slots WHERE save > ? AND key > ? ORDER BY key LIMIT 1";
    const row =
      this.#database.prepare(inPlace).get(before, pin) ??
      this.#database.prepare(since).get(pin, after);
    return row as SlotRow | undefined;
  }

  #run(sql: string, ...values: readonly (string | number | null)[]): number {
    return Number(this.#database.prepare(sql).run(...values).changes);
  }

  #transaction<T>(kind: "DEFERRED" | "IMMEDIATE", work: () => T): T {
    this.#database.exec(`BEGIN ${kind}`);
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      this.#database.exec("ROLLBACK");
      throw error;
    }
  }
}

interface ListPosition {
  readonly pin: number;
  readonly before: number;
  readonly after: string;
}

function readCursor(cursor: string | undefined): ListPosition | undefined {
  try {
    return cursor === undefined ? undefined : (JSON.parse(cursor) as ListPosition);
  } catch {
    throw new InvalidInputError("the cursor does not come from a listing of this store");
  }
}

function matches(query: SlotQuery): (listed: SlotInfo) => boolean {
  const [isSlot, isInfo] = [matchSlot(query), matchInfo(query)];
  return ({ slot, info }) => isSlot(slot) && isInfo(info);
}

function listedSession({ slot, updatedAt, count, info }: SlotRow): SlotInfo {
  const listed = { slot: JSON.parse(slot), updatedAt: new Date(updatedAt).toISOString() };
  return { ...listed, messages: count, ...(info !== null && { info: JSON.parse(info) }) };
}

function parse<T>(slot: Slot, json: string): T {
  try {
    return JSON.parse(json) as T;
  } catch {
    throw new StateCorruptError(`${describeSlot(slot)} is damaged: a column is not JSON`);
  }
}

/** Opens a store for all processes of a host. */
export function open(path: string): SqliteStateStore {
  return new SqliteStateStore(openDatabase(path));
}
