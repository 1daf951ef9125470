import type { JsonObject, JsonValue, Message } from "@holdfast/core";
import { applyWrite, type CallRecord, withCallRecord } from "@holdfast/core/store-kit";
import type { JournalRecord, SaveRecord } from "./record.js";

/** A document's contents while its generation is read. */
export interface Contents {
  head: Map<string, JsonValue>;
  messages: Message[];
  /** Newest first. */
  calls: CallRecord[];
}

/** Contents of a document that was never saved. */
export function emptyContents(): Contents {
  return { head: new Map(), messages: [], calls: [] };
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
  }
}

function applySave(contents: Contents, record: SaveRecord): void {
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
