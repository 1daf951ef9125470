import { StateCorruptError } from "../errors/index.js";
import type { Message } from "../message/message.js";
import { describeSlot, type Slot } from "../slot/slot.js";

/** The part of a `StateWrite` that is about messages, in whatever form a store keeps them. */
export interface MessageWrite<T = Message> {
  readonly keep: number;
  readonly replace: readonly (readonly [index: number, message: T])[];
  readonly append: readonly T[];
}

/**
 * The messages after a write: keep, replace, append. A new list; `stored` stays as it is.
 *
 * @param slot - whose messages, named in the error
 * @throws StateCorruptError when the write does not fit: it keeps more than there is, or replaces what it does not keep
 */
export function applyWrite<T = Message>(
  stored: readonly T[],
  write: MessageWrite<T>,
  slot?: Slot,
): T[] {
  const save = slot === undefined ? "a save" : `a save of ${describeSlot(slot)}`;
  if (!Number.isInteger(write.keep) || write.keep < 0 || write.keep > stored.length)
    throw new StateCorruptError(
      `${save} keeps ${write.keep} messages of ${stored.length}: caller and store disagree`,
    );
  const messages = stored.slice(0, write.keep);
  for (const [index, message] of write.replace) {
    if (!Number.isInteger(index) || index < 0 || index >= write.keep)
      throw new StateCorruptError(`${save} replaces message ${index} but keeps only ${write.keep}`);
    messages[index] = message;
  }
  for (const message of write.append) messages.push(message);
  return messages;
}
