import type { Revision, Slot } from "@holdfast/core";
import {
  describeSlot,
  type LoadAnswer,
  type LoadedState,
  MAX_REPLACED,
  type SavedChange,
  type StateChange,
} from "@holdfast/core/store-kit";
import { asTextOrNull, type Cell, readingOf } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import type { Value } from "../connection/session.js";
import { isExpired, keepUsed, lifeOf } from "../expiry/last-use.js";
import { slotHash, type Tables } from "../keys.js";
import { joiningRecords } from "./message-rows.js";
import {
  MESSAGE_COLUMNS,
  rowColumns,
  StoredRows,
  selectingCalls,
  selectingChanges,
  selectingOps,
} from "./stored-rows.js";

/** Loads the stored state of a slot, or what changed of it since the known revision. */
export async function loadState(
  database: Database,
  slot: Slot,
  known?: Revision,
): Promise<LoadAnswer> {
  if (known !== undefined) {
    const [row] = await database.read(
      loading(slot),
      `SELECT rev, ${lifeOf(database)} FROM ${database.tables.slots} WHERE k = ?`,
      [slotHash(slot)],
    );
    const stored = readingOf(stateOf(slot), () => asTextOrNull(row?.[0]));
    if (stored === null || isExpired(row?.[1])) return null;
    if (stored === known) {
      await keepUsed(database, slot, row?.[1]);
      return "unchanged";
    }
  }
  const { state, life } = await loadWithInbox(database, slot, known);
  if (state !== null) await keepUsed(database, slot, life);
  return state;
}

/** Stored state of a slot with its inbox and its {@link lifeOf}, from one snapshot. */
interface LoadedSlot<Answer = LoadAnswer> {
  readonly state: Answer;
  readonly inbox: Buffer;
  readonly life: Cell | undefined;
}

/** Loads the stored state of a slot, or what changed of it since the known revision, and, if there is one, its inbox. */
export async function loadWithInbox(
  database: Database,
  slot: Slot,
  known?: Revision,
): Promise<LoadedSlot> {
  const recent = known === undefined ? null : await loadRecent(database, slot, known);
  if (recent !== null) return recent;
  // With a known revision it is to be seen whether it is of another history.
  const { tables } = database;
  const changes =
    known === undefined
      ? ""
      : `\nUNION ALL ${selectingChanges(tables)}\nUNION ALL ${selectingOps(tables)}`;
  const k = slotHash(slot);
  const rows = await readRows(
    database,
    slot,
    `FROM ${messagesOf(tables)} WHERE m.k = ?${changes}`,
    known === undefined ? [k] : [k, k, k, k],
  );
  return answerOf(slot, rows, () => rows.whole(known));
}

/** Messages read at once with the row: more than most turns add. Those of a change that goes further back take a statement more. */
const RECENT_MESSAGES = 8;

/** Loads what changed since the known revision; null when the whole state has to be loaded. */
async function loadRecent(
  database: Database,
  slot: Slot,
  known: Revision,
): Promise<LoadedSlot<StateChange | "unchanged" | null> | null> {
  const { slots, messages } = database.tables;
  const rows = await readRows(
    database,
    slot,
    `FROM ${slots} AS s JOIN ${messages} AS m ON m.k = s.k AND m.pos >= IF(s.n > ${RECENT_MESSAGES}, s.n - ${RECENT_MESSAGES}, 0)
LEFT ${joiningRecords(database.tables)} WHERE s.k = ? AND s.rev <> ?
UNION ALL ${selectingChanges(database.tables)}`,
    [slotHash(slot), Buffer.from(known, "utf8"), slotHash(slot)],
  );
  if (rows.revision === known) return answerOf(slot, rows, () => "unchanged");
  const since = readingOf(stateOf(slot), () => rows.since(known));
  if (since === undefined || since.replaced.length > MAX_REPLACED) return null;
  const covering = readingOf(stateOf(slot), () => rows.covers(since))
    ? rows
    : await readChanged(database, slot, since);
  // One statement reads one snapshot: another node may have saved between two.
  if (covering.revision !== rows.revision) return null;
  return answerOf(slot, covering, () => covering.change(known, since));
}

/** Reads the messages that a change names. */
function readChanged(
  database: Database,
  slot: Slot,
  { keep, replaced }: Pick<SavedChange, "keep" | "replaced">,
): Promise<StoredRows> {
  const k = slotHash(slot);
  const messages = messagesOf(database.tables);
  // As many marks every time, so that there is one statement to prepare.
  const places = Array.from({ length: MAX_REPLACED }, (_, index) => replaced[index] ?? keep);
  return readRows(
    database,
    slot,
    `FROM ${messages} WHERE m.k = ? AND m.pos >= ?
UNION ALL SELECT ${MESSAGE_COLUMNS} FROM ${messages} WHERE m.k = ? AND m.pos IN (${places.map(() => "?").join(", ")})`,
    [k, keep, k, ...places],
  );
}

function messagesOf(tables: Tables): string {
  return `${tables.messages} AS m LEFT ${joiningRecords(tables)}`;
}

/** Reads the row of a slot and messages with one statement, which reads one snapshot. */
async function readRows(
  database: Database,
  slot: Slot,
  messages: string,
  values: readonly Value[],
): Promise<StoredRows> {
  const rows = await database.read(
    loading(slot),
    `SELECT ${rowColumns(database.tables, lifeOf(database))} FROM ${database.tables.slots} WHERE k = ? AND rev IS NOT NULL
UNION ALL ${selectingCalls(database.tables)}
UNION ALL SELECT ${MESSAGE_COLUMNS} ${messages}`,
    [slotHash(slot), slotHash(slot), ...values],
  );
  return readingOf(stateOf(slot), () => new StoredRows(slot, rows));
}

function answerOf<Answer extends LoadedState | StateChange | "unchanged" | null>(
  slot: Slot,
  rows: StoredRows,
  read: () => Answer,
): LoadedSlot<Answer | null> {
  return readingOf(stateOf(slot), () => {
    const { life } = rows;
    if (isExpired(life)) return { state: null, inbox: Buffer.alloc(0), life };
    return { state: read(), inbox: rows.inbox, life };
  });
}

function loading(slot: Slot): string {
  return `loading ${describeSlot(slot)}`;
}

function stateOf(slot: Slot): string {
  return `the stored state of ${describeSlot(slot)}`;
}
