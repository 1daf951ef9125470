import type { JsonObject, JsonValue, Message, Revision } from "@holdfast/core";
import { applyWrite, type CallRecord, revisionSeq, withCallRecord } from "@holdfast/core/store-kit";
import type { JournalRecord, SaveRecord } from "./record.js";

/** A document's contents while its generation is read. */
export interface Contents {
  head: Map<string, JsonValue>;
  messages: Message[];
  /** Newest first. */
  calls: CallRecord[];
  /** Revisions that it had, as far back as its files tell, newest last. */
  revisions: Revision[];
}

/** Contents of a document that was never saved. */
export function emptyContents(): Contents {
  return { head: new Map(), messages: [], calls: [], revisions: [] };
}

/**
 * Applies a record that counts.
 *
 * @throws StateCorruptError when it does not fit: it keeps or replaces messages that are not there
 */
export function applyRecord(contents: Contents, record: JournalRecord): void {
  if (record.kind === "save") applySave(contents, record);
  else if (record.kind === "delete") {
    contents.head.clear();
    contents.messages = [];
    contents.calls = [];
    contents.revisions = [];
  }
}

function applySave(contents: Contents, record: SaveRecord): void {
  contents.revisions.push(record.rev);
  for (const key of record.unset) contents.head.delete(key);
  for (const [key, value] of Object.entries(record.set)) contents.head.set(key, value);
  if (record.call !== undefined)
    contents.calls = withCallRecord(contents.calls, record.call.record, record.call.keep);
  if (record.keep === contents.messages.length && record.replace.length === 0)
    for (const message of record.append) contents.messages.push(message);
  else contents.messages = applyWrite(contents.messages, record);
}

/** Returns the head as an object; `fromEntries` defines properties, so that `__proto__` is a key like any other. */
export function headObject(contents: Contents): JsonObject {
  return Object.fromEntries(contents.head);
}

/** Tells that a document does not go back to `known`: it had another revision with the same number, as far as its files tell. */
export function isForked({ revisions }: Contents, known: Revision): boolean {
  const seq = revisionSeq(known);
  return revisions.some((revision) => revision !== known && revisionSeq(revision) === seq);
}
