import {
  type JsonObject,
  type Message,
  type Revision,
  type Slot,
  StateCorruptError,
} from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";
import { describeSlot, type LoadedState } from "@holdfast/core/store-kit";
import { asNumber, asText, asTextOrNull, type Row } from "../connection/cells.js";
import type { Database } from "../connection/database.js";
import { slotHash } from "../keys.js";

/** Loads the stored state of a slot, from one snapshot. */
export async function loadState(
  database: Database,
  slot: Slot,
  known?: Revision,
): Promise<LoadedState | "unchanged" | null> {
  const what = `loading ${describeSlot(slot)}`;
  const k = slotHash(slot);
  const { slots, messages } = database.tables;
  if (known !== undefined) {
    const [row] = await database.read(what, `SELECT rev FROM ${slots} WHERE k = ?`, [k]);
    const stored = asTextOrNull(row?.[0]);
    if (stored === null) return null;
    if (stored === known) return "unchanged";
  }
  // One statement reads one snapshot; the head comes as position -1.
  const rows = await database.read(
    what,
    `SELECT -1, head, rev, n, agent_id, user_id, session_id FROM ${slots} WHERE k = ? AND rev IS NOT NULL
UNION ALL SELECT pos, body, NULL, NULL, NULL, NULL, NULL FROM ${messages} WHERE k = ?`,
    [k, k],
  );
  return readRows(slot, rows);
}

function readRows(slot: Slot, rows: readonly Row[]): LoadedState | null {
  const head = rows.find(([pos]) => asNumber(pos) === -1);
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
  return {
    revision: asText(head[2]),
    head: parse(slot, asText(head[1]), "the head") as JsonObject,
    messages: ordered.map(({ pos, text }, index) => {
      if (pos !== index) throw corrupt(slot, `message ${index} is missing`);
      return parse(slot, text, `message ${index}`) as unknown as Message;
    }),
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
