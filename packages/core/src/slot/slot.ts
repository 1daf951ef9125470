import { createHash } from "node:crypto";
import { InvalidIdError } from "../errors/errors.js";
import { isWellFormed } from "../json/json.js";

/**
 * Address of one agent state.
 *
 * Callers name `userId` and `sessionId`; `agentId` belongs to the agent, so that agents on one store never share a state.
 */
export interface Slot {
  readonly agentId: string;
  /** `null` is the anonymous user: a namespace of its own, never equal to any named user. */
  readonly userId: string | null;
  readonly sessionId: string;
}

/** Longest id accepted, in UTF-16 units. */
export const MAX_ID_LENGTH = 255;

/**
 * Returns `id` when a store can use it as a name.
 *
 * @param what - name of the id in the error
 * @throws InvalidIdError unless it is a non-empty well-formed string of at most 255 UTF-16 units
 */
export function checkId(id: unknown, what: string): string {
  return checkName(id, what, MAX_ID_LENGTH);
}

/**
 * Returns `name` when it is a non-empty well-formed string of at most `maxLength` UTF-16 units.
 *
 * @throws InvalidIdError
 */
export function checkName(name: unknown, what: string, maxLength: number): string {
  if (typeof name !== "string")
    throw new InvalidIdError(
      `${what} must be a string, got ${name === null ? "null" : typeof name}`,
    );
  if (name.length === 0) throw new InvalidIdError(`${what} must not be empty`);
  if (name.length > maxLength)
    throw new InvalidIdError(
      `${what} has ${name.length} UTF-16 units; at most ${maxLength} are accepted`,
    );
  if (!isWellFormed(name)) throw new InvalidIdError(`${what} holds a lone surrogate`);
  return name;
}

/**
 * Returns a copy of `slot` with nothing but its ids, once they are checked; stores call it before any I/O.
 *
 * @throws InvalidIdError when an id is not acceptable; see {@link checkId}
 */
export function checkSlot(slot: Slot): Slot {
  return {
    agentId: checkId(slot.agentId, "agentId"),
    userId: slot.userId === null ? null : checkId(slot.userId, "userId"),
    sessionId: checkId(slot.sessionId, "sessionId"),
  };
}

/** Returns an injective text form of a slot, for keys of maps: every part is preceded by its length. */
export function slotText(slot: Slot): string {
  const user = userTag(slot.userId);
  return `${slot.agentId.length}:${slot.agentId}${user.length}:${user}${slot.sessionId.length}:${slot.sessionId}`;
}

/** Returns a short, plain key of a slot: base32 of the SHA-256 of {@link slotText}, 52 lower-case letters and digits. */
export function slotKey(slot: Slot): string {
  return hashKey(slotText(slot));
}

/** Returns a short, plain key for a text: base32 of its SHA-256, 52 lower-case letters and digits. */
export function hashKey(text: string): string {
  return base32(createHash("sha256").update(text, "utf8").digest());
}

/** Returns `0` for the anonymous user, `1` and the id for a named one, so that no name can mean "anonymous". */
export function userTag(userId: string | null): string {
  return userId === null ? "0" : `1${userId}`;
}

/** Returns the name of a slot for errors and logs. */
export function describeSlot(slot: Slot): string {
  const user = slot.userId === null ? "anonymous user" : `user ${shorten(slot.userId)}`;
  return `session ${shorten(slot.sessionId)} of ${user}, agent ${shorten(slot.agentId)}`;
}

function shorten(id: string): string {
  return JSON.stringify(id.length > 64 ? `${id.slice(0, 64)}…` : id);
}

const alphabet = "abcdefghijklmnopqrstuvwxyz234567";

function base32(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(buffer >> (bits - 5)) & 31];
    buffer &= (1 << bits) - 1;
  }
  return bits > 0 ? text + alphabet[(buffer << (5 - bits)) & 31] : text;
}
