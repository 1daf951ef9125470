import type { JsonObject, Message, Revision, Slot } from "@holdfast/core";
import type { CallRecord, LoadAnswer, StateWrite } from "@holdfast/core/store-kit";
import { describeSlot, isWhole, nextRevision, slotText } from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { openInfo, sealInfo } from "./sealed-info.js";
import { sealDraft } from "./sealed-record.js";
import { openMessage, Seals, sealedMessage } from "./seals.js";

/**
 * Seals head, messages, log records, call record and facts of a write. The head is bound to the revision and the number of
 * messages, each message to its index, a call record to its `callId`, which stays readable.
 */
export function sealWrite(ring: KeyRing, slot: Slot, write: StateWrite): StateWrite {
  const { op, expected, head, keep, replace, append, lease, release, log, takes } = write;
  const { callRecord, info } = write;
  const place = slotText(slot);
  const messages = new Seals(ring, "holdfast.message.1", place);
  const sealAt = (index: number, message: Message): Message =>
    sealedMessage(message, { sealed: messages.seal(JSON.stringify(message), String(index)) });
  const revision = write.revision ?? nextRevision(expected);
  const bound = [revision, String(keep + append.length)];
  const heads = new Seals(ring, "holdfast.head.1", place);
  // Field by field: one that a later release adds must not pass unsealed.
  return {
    op,
    expected,
    revision,
    head: { sealed: heads.seal(JSON.stringify(head), ...bound) },
    keep,
    replace: replace.map(([index, message]) => [index, sealAt(index, message)] as const),
    append: append.map((message, index) => sealAt(keep + index, message)),
    lease,
    release,
    log: log?.map((draft) => sealDraft(ring, slot, draft)),
    takes,
    callRecord: callRecord && {
      record: sealCallRecord(ring, slot, callRecord.record),
      keep: callRecord.keep,
    },
    info: info && sealInfo(ring, slot, info),
  };
}

/**
 * Opens what a store answered to a load.
 *
 * @throws StateCorruptError
 */
export function openAnswer(ring: KeyRing, slot: Slot, answer: LoadAnswer): LoadAnswer {
  if (answer === null || answer === "unchanged") return answer;
  const { revision, callRecords, info } = answer;
  const name = describeSlot(slot);
  const messages = new Seals(ring, "holdfast.message.1", slotText(slot));
  const openAt = (index: number, message: Message): Message =>
    openMessage(messages, message, `message ${index} of ${name}`, String(index));
  const count = isWhole(answer) ? answer.messages.length : answer.keep + answer.append.length;
  const opened = {
    revision,
    head: openHead(ring, slot, answer.head, [revision, String(count)]),
    ...(callRecords && { callRecords: openCallRecords(ring, slot, callRecords) }),
    ...(info && { info: openInfo(ring, slot, info) }),
  };
  if (isWhole(answer)) {
    const { rolledBack } = answer;
    const whole = answer.messages.map((message, index) => openAt(index, message));
    return { ...opened, messages: whole, ...(rolledBack && { rolledBack }) };
  }
  const { from, keep, replace, append } = answer;
  return {
    ...{ from, ...opened, keep },
    replace: replace.map(([index, message]) => [index, openAt(index, message)] as const),
    append: append.map((message, index) => openAt(keep + index, message)),
  };
}

function sealCallRecord(ring: KeyRing, slot: Slot, record: CallRecord): CallRecord {
  const { callId } = record;
  const calls = new Seals(ring, "holdfast.call.1", slotText(slot));
  return { callId, sealed: calls.seal(JSON.stringify(record), callId) };
}

function openCallRecords(
  ring: KeyRing,
  slot: Slot,
  records: readonly CallRecord[],
): readonly CallRecord[] {
  const calls = new Seals(ring, "holdfast.call.1", slotText(slot));
  return records.map((record) => {
    const text = calls.open(record, `a call record of ${describeSlot(slot)}`, record.callId);
    return text === null ? record : (JSON.parse(text) as CallRecord);
  });
}

function openHead(
  ring: KeyRing,
  slot: Slot,
  head: JsonObject,
  bound: readonly [revision: Revision, count: string],
): JsonObject {
  const heads = new Seals(ring, "holdfast.head.1", slotText(slot));
  const text = heads.open(head, `the head of ${describeSlot(slot)}`, ...bound);
  return text === null ? head : (JSON.parse(text) as JsonObject);
}
