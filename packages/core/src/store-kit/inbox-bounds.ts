import { StateTooLargeError } from "../errors/store-errors.js";
import { MAX_INBOX_BYTES, MAX_INBOX_ENTRIES } from "../ports/inbox.js";
import { describeSlot, type Slot } from "../slot/slot.js";

/** Fill level of an inbox. */
export interface InboxUse {
  readonly entries: number;
  /** Sum of the entries' JSON in UTF-8 bytes. */
  readonly bytes: number;
}

/**
 * Refuses an inbox that holds more than the bounds allow, with the new entry counted.
 *
 * @throws StateTooLargeError
 */
export function checkInboxUse(slot: Slot, { entries, bytes }: InboxUse): void {
  if (entries > MAX_INBOX_ENTRIES || bytes > MAX_INBOX_BYTES) throw inboxFull(slot);
}

/** Returns the error of an entry for which the inbox has no room, for stores that count on their server. */
export function inboxFull(slot: Slot): StateTooLargeError {
  return new StateTooLargeError(
    `an entry was not put into the inbox of ${describeSlot(slot)}: it may hold ${MAX_INBOX_ENTRIES} entries and ${MAX_INBOX_BYTES / 1_048_576} MiB until a call takes them in`,
  );
}
