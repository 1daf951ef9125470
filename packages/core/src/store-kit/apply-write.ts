import { InvalidInputError } from "../errors/errors.js";
import { LeaseLostError, StateConflictError, StateCorruptError } from "../errors/store-errors.js";
import type { Message } from "../message/message.js";
import type { Revision, StateWrite } from "../ports/agent-state-store.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import { revisionSeq } from "./revision.js";

/** Messages of a `StateWrite`, in the form in which a store keeps them. */
export interface MessageWrite<T = Message> {
  readonly keep: number;
  readonly replace: readonly (readonly [index: number, message: T])[];
  readonly append: readonly T[];
}

/**
 * Returns the messages after a write as a new list: keeps, replaces, then appends. `stored` is not changed.
 *
 * @param slot - named in the error
 * @throws StateCorruptError when the write does not fit; see {@link checkWrite}
 * @example
 * applyWrite(["a", "b", "c"], { keep: 2, replace: [[0, "A"]], append: ["d"] }); // ["A", "b", "d"]
 */
export function applyWrite<T = Message>(
  stored: readonly T[],
  write: MessageWrite<T>,
  slot?: Slot,
): T[] {
  checkWrite(write, stored.length, slot);
  const messages = stored.slice(0, write.keep);
  for (const [index, message] of write.replace) messages[index] = message;
  for (const message of write.append) messages.push(message);
  return messages;
}

/**
 * Refuses a write that does not fit the number of messages stored: the check of {@link applyWrite}, for stores that do not
 * load what they change.
 *
 * A store that does not know the number yet passes `write.keep`: a write that does not fit as many messages as it keeps fits
 * no state.
 *
 * @param slot - named in the error
 * @throws StateCorruptError when the write keeps more messages than are stored, or replaces one that it does not keep
 */
export function checkWrite(
  write: Pick<MessageWrite<unknown>, "keep" | "replace">,
  storedCount: number,
  slot?: Slot,
): void {
  const save = slot === undefined ? "a save" : `a save of ${describeSlot(slot)}`;
  const { keep } = write;
  if (!Number.isSafeInteger(keep) || keep < 0)
    throw new StateCorruptError(
      `${save} keeps ${keep} messages; keep must be a whole number of at least 0`,
    );
  if (keep > storedCount)
    throw new StateCorruptError(
      `${save} keeps ${keep} messages of ${storedCount}: caller and store disagree`,
    );
  for (const [index] of write.replace)
    if (!Number.isInteger(index) || index < 0 || index >= keep)
      throw new StateCorruptError(`${save} replaces message ${index} but keeps only ${keep}`);
}

/** Returns the error of a save whose `expected` revision is not the stored one. */
export function stateConflict(
  slot: Slot,
  expected: Revision | null,
  stored: Revision | null,
): StateConflictError {
  return new StateConflictError(
    `${describeSlot(slot)} was not saved: the save is based on ${nameOf(expected)}, the store holds ${nameOf(stored)}. Load it again and repeat the change`,
    { storedRevision: stored },
  );
}

/** Returns the error of a save whose lease is not the slot's current one. */
export function leaseLost(slot: Slot): LeaseLostError {
  return new LeaseLostError(
    `${describeSlot(slot)} was not saved: the lease it was written under has ended, another call may be running`,
  );
}

/**
 * Refuses a write with a lease, log records or inbox entries to take, for stores that do not fuse gate and log: ignoring them
 * would lose log records, let a stale holder write or have entries taken in twice.
 *
 * @throws InvalidInputError
 */
export function refuseFusedParts(slot: Slot, write: StateWrite): void {
  const { lease, release, log, takes = [] } = write;
  if (lease === undefined && release !== true && log === undefined && takes.length === 0) return;
  throw new InvalidInputError(
    `${describeSlot(slot)} was not saved: the save carries a lease, log records or inbox entries to take, but this store fuses neither gate nor log; append, remove and release separately`,
  );
}

function nameOf(revision: Revision | null): string {
  return revision === null ? "no state" : `revision ${revisionSeq(revision)}`;
}
