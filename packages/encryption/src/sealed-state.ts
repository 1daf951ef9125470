import type { JsonObject, Message, Revision, Slot } from "@holdfast/core";
import type { LoadedState, StateWrite } from "@holdfast/core/store-kit";
import { describeSlot, nextRevision, slotText } from "@holdfast/core/store-kit";
import type { KeyRing } from "./key-ring.js";
import { sealDraft } from "./sealed-record.js";
import { openMessage, Seals, sealedMessage } from "./seals.js";

/**
 * Seals head, messages and log records of a write. The head is bound to the revision and the number of messages, each
 * message to its index.
 */
export function sealWrite(ring: KeyRing, slot: Slot, write: StateWrite): StateWrite {
  const { op, expected, head, keep, replace, append, lease, release, log } = write;
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
  };
}

/**
 * Opens the state that a store returned.
 *
 * @throws StateCorruptError
 */
export function openState(ring: KeyRing, slot: Slot, loaded: LoadedState): LoadedState {
  const { revision } = loaded;
  const place = slotText(slot);
  const name = describeSlot(slot);
  const messages = new Seals(ring, "holdfast.message.1", place);
  return {
    revision,
    head: openHead(ring, slot, loaded.head, [revision, String(loaded.messages.length)]),
    messages: loaded.messages.map((message, index) =>
      openMessage(messages, message, `message ${index} of ${name}`, String(index)),
    ),
  };
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
