import { StateTooNewError } from "../errors/errors.js";
import { StateCorruptError } from "../errors/store-errors.js";
import { isRecord, type JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { CallRecord, Revision, SessionInfo } from "../ports/agent-state-store.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import type { OpLedger } from "./revision.js";

/** Value and the version of the write that stored it. */
export interface StoredDocument {
  readonly value: string;
  readonly version: string;
}

/** One page of keys; `cursor` is absent on the last one. */
export interface DocumentKeys {
  readonly keys: readonly string[];
  readonly cursor?: string | undefined;
}

/**
 * Key-value client for `documentStore`: four commands over strings.
 *
 * Contract:
 * - `get` resolves to `null` for a key that does not exist, and sees every write acknowledged before.
 * - `compareAndSet` writes `value` atomically if the stored version is `expectedVersion` (`null`: if the key is absent) and
 *   resolves to `true`. Otherwise it resolves to `false`, and nothing was or will be written.
 * - A version names one write and is never reused, not even after a delete.
 * - `delete` resolves to `false` when there was nothing to delete.
 * - `list` returns every key that exists throughout the listing, in any order; keys of other programs may be among them.
 * - A command may throw. A write that throws counts as possibly applied, unless the error is a `HoldfastError`, which is
 *   passed on: throw `StoreUnavailableError` when a write was certainly not applied.
 * - A command may hang: the store stops waiting after its own deadline.
 *
 * Keys are the prefix and at most 64 lower-case letters, digits and hyphens; values are JSON text, also of many megabytes.
 */
export interface DocumentClient {
  get(key: string): Promise<StoredDocument | null>;
  compareAndSet(key: string, value: string, expectedVersion: string | null): Promise<boolean>;
  delete(key: string): Promise<boolean>;
  list(cursor?: string): Promise<DocumentKeys>;
}

/** Stored form of one slot, as one document. */
export interface StateDocument {
  readonly v: 1;
  /** Ids of the slot; the document's key is a hash of them. */
  readonly slot: Slot;
  readonly revision: Revision;
  readonly ops: OpLedger;
  readonly updatedAt: string;
  readonly head: JsonObject;
  readonly messages: readonly Message[];
  /** Newest first; absent in documents of earlier releases. */
  readonly callRecords?: readonly CallRecord[] | undefined;
  readonly info?: SessionInfo | undefined;
}

/**
 * Parses a document of any slot.
 *
 * @param where - owner of the document, for the error
 * @throws StateCorruptError when it is not a whole document
 * @throws StateTooNewError when it has a form of a newer release
 */
export function parseStateDocument(text: string, where: string): StateDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and state contents stay out of errors.
    throw damaged(where, "it is not JSON");
  }
  if (isRecord(value) && typeof value["v"] === "number" && value["v"] > 1)
    throw new StateTooNewError(
      `the stored document of ${where} has form ${value["v"]}; this release reads form 1, upgrade @holdfast/core`,
    );
  const problem = documentProblem(value);
  if (problem !== null) throw damaged(where, problem);
  return value as StateDocument;
}

/**
 * Parses the document of one slot; see {@link parseStateDocument}.
 *
 * @throws StateCorruptError also when it belongs to another slot
 */
export function readStateDocument(text: string, slot: Slot): StateDocument {
  const document = parseStateDocument(text, describeSlot(slot));
  const { agentId, userId, sessionId } = document.slot;
  if (agentId === slot.agentId && userId === slot.userId && sessionId === slot.sessionId)
    return document;
  throw damaged(describeSlot(slot), `it belongs to ${describeSlot(document.slot)}`);
}

/** End of an error about something stored that cannot be read; it is left as it is. */
export const damagedAdvice =
  "; restore it from a backup, or remove the session with deleteSession, its log included";

function damaged(where: string, problem: string): StateCorruptError {
  return new StateCorruptError(
    `the stored document of ${where} is damaged: ${problem}${damagedAdvice}`,
  );
}

function documentProblem(value: unknown): string | null {
  if (!isRecord(value)) return "it is not an object";
  if (value["v"] !== 1) return "v is not 1";
  if (!isSlot(value["slot"])) return "slot needs agentId, userId and sessionId";
  if (typeof value["revision"] !== "string") return "revision is not a string";
  if (typeof value["updatedAt"] !== "string") return "updatedAt is not a string";
  if (!isLedger(value["ops"])) return "ops is not a list of pairs";
  if (!isRecord(value["head"])) return "head is not an object";
  if (!Array.isArray(value["messages"]) || !value["messages"].every(isRecord))
    return "messages is not a list of objects";
  const { callRecords = [], info = {} } = value;
  if (!Array.isArray(callRecords) || !callRecords.every(isCallRecord))
    return "callRecords is not a list of objects with a callId";
  if (!isRecord(info)) return "info is not an object";
  return null;
}

function isSlot(value: unknown): boolean {
  return (
    isRecord(value) &&
    typeof value["agentId"] === "string" &&
    (value["userId"] === null || typeof value["userId"] === "string") &&
    typeof value["sessionId"] === "string"
  );
}

function isCallRecord(value: unknown): boolean {
  return isRecord(value) && typeof value["callId"] === "string";
}

function isLedger(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (pair) =>
        Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string"),
    )
  );
}
