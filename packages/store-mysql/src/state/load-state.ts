import {
  type JsonObject,
  type Message,
  type Revision,
  type SessionInfo,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { type CallRecord, describeSlot, type LoadedState } from "@holdfast/core/store-kit";
import {
  asBytesOrNone,
  asNumber,
  asText,
  asTextOrNull,
  type Cell,
  type Row,
  readingOf,
} from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { isExpired, keepUsed, lifeOf } from "../expiry/last-use.js";
import { slotHash } from "../keys.js";
import { callRecordTexts } from "./call-records.js";

/** Loads the stored state of a slot, from one snapshot. */
export async function loadState(
  database: Database,
  slot: Slot,
  known?: Revision,
): Promise<LoadedState | "unchanged" | null> {
  if (known !== undefined) {
    const [row] = await database.read(
      loading(slot),
      `SELECT rev, ${lifeOf(database)} FROM ${database.tables.slots} WHERE k = ?`,
      [slotHash(slot)],
    );
    const what = `the stored state of ${describeSlot(slot)}`;
    const stored = readingOf(what, () => asTextOrNull(row?.[0]));
    if (stored === null || isExpired(row?.[1])) return null;
    if (stored === known) {
      await keepUsed(database, slot, row?.[1]);
      return "unchanged";
    }
  }
  const { state, life } = await loadWithInbox(database, slot);
  if (state !== null) await keepUsed(database, slot, life);
  return state;
}

/** Loads the stored state of a slot and, if there is one, its inbox and its {@link lifeOf}, from one snapshot. */
export async function loadWithInbox(
  database: Database,
  slot: Slot,
): Promise<{
  readonly state: LoadedState | null;
  readonly inbox: Buffer;
  readonly life: Cell | undefined;
}> {
  const k = slotHash(slot);
  const { slots, messages } = database.tables;
  // One statement reads one snapshot; the head comes as position -1.
  const rows = await database.read(
    loading(slot),
    `SELECT -1, head, rev, n, agent_id, user_id, session_id, calls, inbox, info, ${lifeOf(database)} FROM ${slots} WHERE k = ? AND rev IS NOT NULL
UNION ALL SELECT pos, body, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM ${messages} WHERE k = ?`,
    [k, k],
  );
  return readingOf(`the stored state of ${describeSlot(slot)}`, () => {
    const head = rows.find(([pos]) => asNumber(pos) === -1);
    const life = head?.[10];
    if (isExpired(life)) return { state: null, inbox: Buffer.alloc(0), life };
    return { state: readRows(slot, head, rows), inbox: asBytesOrNone(head?.[8]), life };
  });
}

function loading(slot: Slot): string {
  return `loading ${describeSlot(slot)}`;
}

function readRows(slot: Slot, head: Row | undefined, rows: readonly Row[]): LoadedState | null {
  if (head === undefined) {
    if (rows.length === 0) return null;
    throw corrupt(slot, "it has messages but no head");
  }
  checkIds(slot, head);
  const messages = rows.filter((row) => row !== head);
  const count = asNumber(head[3]);
  if (messages.length !== count)
    throw corrupt(slot, `${count} messages were saved, ${messages.length} are stored`);
  const ordered = messages
    .map(([pos, body]) => ({ pos: asNumber(pos), text: asText(body) }))
    .sort((a, b) => a.pos - b.pos);
  const info = asTextOrNull(head[9]);
  return {
    revision: asText(head[2]),
    head: parse(slot, asText(head[1]), "the head") as JsonObject,
    messages: ordered.map(({ pos, text }, index) => {
      if (pos !== index) throw corrupt(slot, `message ${index} is missing`);
      return parse(slot, text, `message ${index}`) as unknown as Message;
    }),
    callRecords: callRecordTexts(asBytesOrNone(head[7])).map(
      (text) => parse(slot, text, "a call record") as unknown as CallRecord,
    ),
    ...(info !== null && { info: parse(slot, info, "the info") as SessionInfo }),
  };
}

/** Checks that the row has the ids of the slot: its key is only a hash of them. */
function checkIds(slot: Slot, [, , , , agentId, userId, sessionId]: Row): void {
  if (
    asText(agentId) !== slot.agentId ||
    asTextOrNull(userId) !== slot.userId ||
    asText(sessionId) !== slot.sessionId
  )
    throw corrupt(slot, "it belongs to another session");
}

function parse(slot: Slot, text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and contents stay out of errors.
  }
  if (isRecord(value)) return value;
  throw corrupt(slot, `${what} is not a JSON object`);
}

function corrupt(slot: Slot, problem: string): StateCorruptError {
  return new StateCorruptError(`the stored state of ${describeSlot(slot)} is damaged: ${problem}`);
}
