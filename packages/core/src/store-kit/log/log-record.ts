import { InvalidInputError } from "../../errors/errors.js";
import { StateCorruptError } from "../../errors/store-errors.js";
import { deepFreeze, isRecord } from "../../json/json.js";
import { upgradeMessage } from "../../message/upgrade-message.js";
import type { LogDraft, LogRecord } from "../../ports/conversation-log.js";
import { checkId, describeSlot, type Slot } from "../../slot/slot.js";
import { damagedAdvice } from "../state-document.js";

/**
 * Refuses a record that is not complete.
 *
 * @throws InvalidInputError | InvalidIdError
 */
export function checkLogDraft(draft: LogDraft): void {
  checkId(draft.id, "the id of a log record");
  if (draft.v !== 1)
    throw new InvalidInputError(`log record version ${draft.v} is not supported; use 1`);
  if (typeof draft.callId !== "string" || typeof draft.at !== "string")
    throw new InvalidInputError("a log record needs a callId and a time");
  if (draft.kind !== "message" && draft.kind !== "mark")
    throw new InvalidInputError("the kind of a log record must be message or mark");
  if (!isRecord(draft[draft.kind]))
    throw new InvalidInputError(`a log record of kind ${draft.kind} needs a ${draft.kind}`);
}

/** Returns a record as JSON with its fields in a fixed order: the same bytes in every log. */
export function logRecordText(record: LogRecord): string {
  const { v, seq, id, callId, at, kind, message, mark, blobs } = record;
  return JSON.stringify({ v, seq, id, callId, at, kind, message, mark, blobs });
}

/**
 * Parses the text of {@link logRecordText} into a frozen record. Fields of a newer release are kept.
 *
 * @throws StateCorruptError when it is not a record
 */
export function readLogRecord(slot: Slot, text: string): LogRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, and contents stay out of errors.
    throw corrupt(slot, "it is not JSON");
  }
  if (!isRecord(value)) throw corrupt(slot, "it is not an object");
  if (value["v"] !== 1) throw corrupt(slot, "its version is not 1");
  if (!Number.isSafeInteger(value["seq"])) throw corrupt(slot, "seq is not a whole number");
  for (const field of ["id", "callId", "at"])
    if (typeof value[field] !== "string") throw corrupt(slot, `${field} is not a string`);
  const kind = value["kind"];
  if (kind !== "message" && kind !== "mark") throw corrupt(slot, "its kind is not known");
  if (!isRecord(value[kind])) throw corrupt(slot, `its ${kind} is not an object`);
  if (value["blobs"] !== undefined && !isReferences(value["blobs"]))
    throw corrupt(slot, "its blobs are not references");
  if (kind === "message") value["message"] = upgradeMessage(value["message"]);
  return deepFreeze(value) as unknown as LogRecord;
}

function isReferences(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (item) => isRecord(item) && typeof item["ref"] === "string" && Array.isArray(item["path"]),
    )
  );
}

function corrupt(slot: Slot, problem: string): StateCorruptError {
  return new StateCorruptError(
    `a log record of ${describeSlot(slot)} is damaged: ${problem}${damagedAdvice}`,
  );
}
