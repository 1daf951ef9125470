import {
  type JsonObject,
  type Message,
  type Revision,
  type SessionInfo,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import {
  type CallRecord,
  type ChangeLedger,
  changesSince,
  describeSlot,
  isForked,
  type LoadedState,
  type SavedChange,
  type StateChange,
} from "@holdfast/core/store-kit";
import {
  asBytes,
  asBytesOrNone,
  asNumber,
  asText,
  asTextOrNull,
  type Cell,
  type Row,
} from "../connection/cells.js";
import { allEntries } from "../inbox/first-entry.js";
import type { Tables } from "../keys.js";
import { callRecordTexts } from "./call-records.js";
import { readChanges } from "./change-column.js";
import { leadingTo, OF_CHANGES, readChangeRow } from "./ledger-rows.js";
import { revisionsInRing } from "./op-ring.js";
import { shortRevision } from "./revision-mark.js";

/**
 * Returns the columns of a slot's row as {@link StoredRows} takes them.
 *
 * @param life - expression for the life of the slot
 */
export function rowColumns(tables: Tables, life: string): string {
  return `-1, state_head, rev, n, agent_id, user_id, session_id, calls, ${allEntries(tables)}, info, ${life}, changes`;
}

/** Columns of a message as {@link StoredRows} takes them, of the row `m` or of the record `l` that it refers to. */
export const MESSAGE_COLUMNS =
  "m.pos, IF(m.record_seq IS NULL, m.body, l.body), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL";

/** Statement for the changes of a slot as {@link StoredRows} takes them. */
export function selectingChanges({ ledger }: Tables): string {
  return `SELECT -2, entry, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM ${ledger} WHERE k = ? AND ${OF_CHANGES}`;
}

/** Statement for the latest ops of a slot, which are in rows or in the slot's own, as {@link StoredRows} takes them. */
export function selectingOps({ ledger, slots }: Tables): string {
  return `SELECT -4, entry, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM ${ledger} WHERE k = ? AND NOT ${OF_CHANGES}
UNION ALL SELECT -4, ops, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM ${slots} WHERE k = ? AND rev IS NOT NULL`;
}

/** Statement for the call records of a slot as {@link StoredRows} takes them. */
export function selectingCalls({ calls }: Tables): string {
  return `SELECT -3, body, NULL, n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM ${calls} WHERE k = ?`;
}

/** Rows of one snapshot: that of a slot with its call records, some or all of its messages, its changes and its ops. */
export class StoredRows {
  readonly #slot: Slot;
  readonly #row: Row | undefined;
  /** Texts of the messages read, by position. */
  readonly #texts = new Map<number, string>();
  readonly #changes: Buffer[] = [];
  readonly #ops: Buffer[] = [];
  readonly #calls: { readonly n: number; readonly bytes: Buffer }[] = [];
  /** The stored revision; undefined when there is no state. */
  readonly revision: Revision | undefined;

  /** @throws CellError */
  constructor(slot: Slot, rows: readonly Row[]) {
    this.#slot = slot;
    for (const row of rows) {
      const pos = asNumber(row[0]);
      if (pos === -1) this.#row = row;
      else if (pos === -2) this.#changes.push(asBytes(row[1]));
      else if (pos === -4) this.#ops.push(asBytesOrNone(row[1]));
      else if (pos === -3) this.#calls.push({ n: asNumber(row[3]), bytes: asBytes(row[1]) });
      else this.#texts.set(pos, asText(row[1]));
    }
    this.revision = this.#row && asText(this.#row[2]);
  }

  get inbox(): Buffer {
    return asBytesOrNone(this.#row?.[8]);
  }

  get life(): Cell | undefined {
    return this.#row?.[10];
  }

  /** Returns what happened to the messages since a revision, if the ledger tells. */
  since(known: Revision): Pick<SavedChange, "keep" | "replaced"> | undefined {
    return changesSince(this.#ledger(), shortRevision(known));
  }

  /**
   * Returns the whole state, of rows with all messages.
   *
   * @throws StateCorruptError | CellError
   */
  whole(known: Revision | undefined): LoadedState | null {
    const row = this.#row;
    if (row === undefined) {
      if (this.#texts.size === 0) return null;
      throw this.#corrupt("it has messages but no head");
    }
    const count = asNumber(row[3]);
    if (this.#texts.size !== count)
      throw this.#corrupt(`${count} messages were saved, ${this.#texts.size} are stored`);
    return {
      ...this.#beside(row),
      messages: Array.from({ length: count }, (_, index) => this.#message(index)),
      ...(known !== undefined && this.#isForked(known) && { rolledBack: true }),
    };
  }

  #isForked(known: Revision): boolean {
    const saved = revisionsInRing(Buffer.concat(this.#ops)).map(shortRevision);
    return isForked(this.#ledger(), shortRevision(known), saved);
  }

  /** Tells whether all messages of a change were read. */
  covers({ keep, replaced }: Pick<SavedChange, "keep" | "replaced">): boolean {
    const positions = [...replaced, ...this.#from(keep)];
    return positions.every((pos) => this.#texts.has(pos));
  }

  /**
   * Returns the change from a revision.
   *
   * @throws StateCorruptError when a message of it was not read | CellError
   */
  change(
    from: Revision,
    { keep, replaced }: Pick<SavedChange, "keep" | "replaced">,
  ): StateChange | null {
    if (this.#row === undefined) return null;
    return {
      ...{ from, ...this.#beside(this.#row), keep },
      replace: replaced.map((index) => [index, this.#message(index)]),
      append: this.#from(keep).map((index) => this.#message(index)),
    };
  }

  #from(keep: number): number[] {
    const count = asNumber(this.#row?.[3]);
    return Array.from({ length: Math.max(count - keep, 0) }, (_, index) => keep + index);
  }

  #ledger(): ChangeLedger {
    const present = this.revision ?? "";
    return leadingTo(present, [
      ...readChanges(asBytesOrNone(this.#row?.[11]), present),
      ...this.#changes.map((entry) => readChangeRow(entry, present)),
    ]);
  }

  #beside(row: Row) {
    this.#checkIds(row);
    const info = asTextOrNull(row[9]);
    return {
      revision: asText(row[2]),
      head: this.#parse(asText(row[1]), "the head") as JsonObject,
      callRecords: this.#callRecords(row),
      ...(info !== null && { info: this.#parse(info, "the info") as SessionInfo }),
    };
  }

  /** Newest first: those in rows, then those in the slot's row, which are older. */
  #callRecords(row: Row): CallRecord[] {
    const rows = this.#calls.toSorted((a, b) => b.n - a.n);
    const texts = [
      ...rows.flatMap(({ bytes }) => callRecordTexts(bytes)),
      ...callRecordTexts(asBytesOrNone(row[7])),
    ];
    const records = texts.map(
      (text) => this.#parse(text, "a call record") as unknown as CallRecord,
    );
    const newest = new Map(records.toReversed().map((record) => [record.callId, record]));
    return records.filter((record) => newest.get(record.callId) === record);
  }

  /** Checks that the row has the ids of the slot: its key is only a hash of them. */
  #checkIds([, , , , agentId, userId, sessionId]: Row): void {
    const slot = this.#slot;
    if (
      asText(agentId) !== slot.agentId ||
      asTextOrNull(userId) !== slot.userId ||
      asText(sessionId) !== slot.sessionId
    )
      throw this.#corrupt("it belongs to another session");
  }

  #message(index: number): Message {
    const text = this.#texts.get(index);
    if (text === undefined) throw this.#corrupt(`message ${index} is missing`);
    return this.#parse(text, `message ${index}`) as unknown as Message;
  }

  #parse(text: string, what: string): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      // The parser's own message quotes the text, and contents stay out of errors.
    }
    if (isRecord(value)) return value;
    throw this.#corrupt(`${what} is not a JSON object`);
  }

  #corrupt(problem: string): StateCorruptError {
    return new StateCorruptError(
      `the stored state of ${describeSlot(this.#slot)} is damaged: ${problem}; restore it from a backup, or remove the session with deleteSession, its log included`,
    );
  }
}
