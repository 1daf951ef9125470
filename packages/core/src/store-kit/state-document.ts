import { StateTooNewError } from "../errors/errors.js";
import { StateCorruptError } from "../errors/store-errors.js";
import { isRecord, type JsonObject } from "../json/json.js";
import type { Message } from "../message/message.js";
import type { Revision } from "../ports/agent-state-store.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import type { OpLedger } from "./revision.js";

/** A value and the version that names this very write of it. */
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
 * What `documentStore` needs of a key-value client: four commands over strings.
 *
 * Contract:
 * - `get` resolves to `null` for a key that is not there and sees every write that was acknowledged before.
 * - `compareAndSet` writes `value` in one atomic step, only if the stored version is `expectedVersion` (`null`: only if
 *   the key is absent). `true`: written. `false`: another version is there and nothing was or will be written.
 * - A version names one write and is never used again, not even after a delete.
 * - `delete` resolves to whether there was something to delete.
 * - `list` shows every key that is there throughout the listing, in any order; others' keys may be among them.
 * - A command may throw. A write that throws counts as one that may have been applied, unless the error is a
 *   `HoldfastError`, which is passed on as it is: throw `StoreUnavailableError` where a write was certainly not applied.
 * - A command may hang: the store stops waiting after its own deadline.
 *
 * Keys are the prefix and 52 lower-case letters and digits; values are JSON text, also of many megabytes.
 */
export interface DocumentClient {
  get(key: string): Promise<StoredDocument | null>;
  compareAndSet(key: string, value: string, expectedVersion: string | null): Promise<boolean>;
  delete(key: string): Promise<boolean>;
  list(cursor?: string): Promise<DocumentKeys>;
}

/** Everything a store knows about one slot, as one document. */
export interface StateDocument {
  readonly v: 1;
  /** The raw ids: the key under which the document lies is a hash of them. */
  readonly slot: Slot;
  readonly revision: Revision;
  readonly ops: OpLedger;
  readonly updatedAt: string;
  readonly head: JsonObject;
  readonly messages: readonly Message[];
}

/**
 * The document in `text`, of whichever slot.
 *
 * @param where - for the error: whose document it should be
 * @throws StateCorruptError when it is not a whole document
 * @throws StateTooNewError when a newer release wrote it in another form
 */
export function parseStateDocument(text: string, where: string): StateDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and state contents stay out of errors.
    throw new StateCorruptError(`the stored document of ${where} is not JSON`);
  }
  if (isRecord(value) && typeof value["v"] === "number" && value["v"] > 1)
    throw new StateTooNewError(
      `the stored document of ${where} has form ${value["v"]}; this release reads form 1, upgrade @holdfast/core`,
    );
  const problem = documentProblem(value);
  if (problem !== null)
    throw new StateCorruptError(`the stored document of ${where} is damaged: ${problem}`);
  return value as StateDocument;
}

/**
 * As {@link parseStateDocument}, for the document of one slot.
 *
 * @throws StateCorruptError also when it is another slot's
 */
export function readStateDocument(text: string, slot: Slot): StateDocument {
  const document = parseStateDocument(text, describeSlot(slot));
  const { agentId, userId, sessionId } = document.slot;
  if (agentId === slot.agentId && userId === slot.userId && sessionId === slot.sessionId)
    return document;
  throw new StateCorruptError(
    `the stored document of ${describeSlot(slot)} is that of ${describeSlot(document.slot)}`,
  );
}

function documentProblem(value: unknown): string | null {
  if (!isRecord(value)) return "it is not an object";
  if (value["v"] !== 1) return "v is not 1";
  if (!isSlot(value["slot"])) return "slot is not a slot";
  if (typeof value["revision"] !== "string") return "revision is not a string";
  if (typeof value["updatedAt"] !== "string") return "updatedAt is not a string";
  if (!isLedger(value["ops"])) return "ops is not a list of pairs";
  if (!isRecord(value["head"])) return "head is not an object";
  if (!Array.isArray(value["messages"]) || !value["messages"].every(isRecord))
    return "messages is not a list of objects";
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

function isLedger(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (pair) =>
        Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string"),
    )
  );
}
