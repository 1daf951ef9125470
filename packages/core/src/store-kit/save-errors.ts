import { InvalidInputError } from "../errors/errors.js";
import { LeaseLostError, StateConflictError } from "../errors/store-errors.js";
import type { Revision, StateWrite } from "../ports/agent-state-store.js";
import { describeSlot, type Slot } from "../slot/slot.js";
import { revisionSeq } from "./revision.js";

/** The error of a save whose `expected` is not what the store holds. */
export function stateConflict(
  slot: Slot,
  expected: Revision | null,
  stored: Revision | null,
): StateConflictError {
  return new StateConflictError(
    `${describeSlot(slot)} was not saved: the save is based on ${nameOf(expected)}, the store holds ${nameOf(stored)}. Load it again and repeat the change`,
  );
}

/** The error of a save whose lease is not the slot's current one. */
export function leaseLost(slot: Slot): LeaseLostError {
  return new LeaseLostError(
    `${describeSlot(slot)} was not saved: the lease it was written under has ended, another call may be running`,
  );
}

/**
 * Refuses a write that asks for parts this store does not serve inside `save`: ignoring them would lose log records or
 * let a stale holder write.
 *
 * @throws InvalidInputError
 */
export function refuseFusedParts(slot: Slot, write: StateWrite): void {
  if (write.lease === undefined && write.release !== true && write.log === undefined) return;
  throw new InvalidInputError(
    `${describeSlot(slot)} was not saved: the save carries a lease or log records, and this store fuses neither gate nor log; call them apart`,
  );
}

function nameOf(revision: Revision | null): string {
  return revision === null ? "no state" : `revision ${revisionSeq(revision)}`;
}
