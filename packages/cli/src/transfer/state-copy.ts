import { type AgentStateStore, type Revision, type Slot, StateConflictError } from "@holdfast/core";
import {
  type CallRecord,
  type LoadedState,
  loadWhole,
  revisionSeq,
  type StateWrite,
  saveWithRetry,
  uuidv7,
} from "@holdfast/core/store-kit";

/** Revision that no state ever has: a save that expects it is refused. */
const NEVER = `0.${"0".repeat(32)}`;

/** Names per revision. A file store remembers saves beyond a delete, so a session that is copied again needs a new name. */
const LIVES = 4;

/**
 * Returns the idempotency keys under which a copy may save a revision. A store remembers those of a slot's last saves, so
 * it can tell whether its state is a copy, without a journal.
 */
function copyOps(revision: Revision): string[] {
  return Array.from(
    { length: LIVES },
    (_, life) => `copy:${revision}${life === 0 ? "" : `:${life}`}`,
  );
}

/** Returns whether a store received this revision of a session as a copy, a bounded number of saves ago. */
async function hasCopyOf(store: AgentStateStore, slot: Slot, revision: Revision): Promise<boolean> {
  for (const op of copyOps(revision)) {
    try {
      // A remembered save is answered without being applied; any other is refused because of the revision it expects.
      const write = { op, expected: NEVER, head: {}, keep: 0, replace: [], append: [] };
      if ((await store.save(slot, write)) === revision) return true;
    } catch (error) {
      if (!StateConflictError.is(error)) throw error;
    }
  }
  return false;
}

/** State that a store holds now, and what to write with the copy. */
export interface CopyTarget extends Pick<StateWrite, "lease" | "log"> {
  readonly stored: LoadedState | null;
}

/**
 * Saves a copy of a state under its original revision: equal revisions then mean equal states in both stores, and data
 * encrypted for a revision can be decrypted. Facts and call records are copied where the store keeps them.
 *
 * @returns the state as read back
 * @throws StateConflictError when the store holds a different state
 */
export async function saveCopy(
  store: AgentStateStore,
  slot: Slot,
  wanted: LoadedState,
  { stored: before, lease, log }: CopyTarget,
): Promise<LoadedState> {
  const { revision, head, messages, info } = wanted;
  const [newest, ...earlier] = store.keepsCallRecords ? missingRecords(before, wanted) : [];
  const keep = wanted.callRecords?.length ?? 0;
  const copy = { head, keep: 0, replace: [], append: messages, info, lease };
  let expected = before?.revision ?? null;
  for (const record of earlier.reverse()) {
    const step = stepTo(revision);
    const write = { ...copy, op: `copy:${step}`, expected, revision: step };
    expected = await saveWithRetry(store, slot, { ...write, callRecord: { record, keep } });
  }
  const callRecord = newest && { record: newest, keep };
  const write = { ...copy, expected, revision, log, callRecord };
  // The last key is random: such a copy cannot be told from a session of the store's own.
  for (const op of [...copyOps(revision), `copy:${revision}:${uuidv7()}`]) {
    await saveWithRetry(store, slot, { ...write, op });
    const stored = await loadWhole(store, slot);
    if (stored?.revision === revision) return stored;
    const isApplied = (stored?.revision ?? null) !== expected;
    // Not applied: the store remembers a copy that was deleted since. Otherwise another save came after this one.
    if (isApplied) break;
  }
  throw new StateConflictError(
    `revision ${revision} was not kept: another program saved or deleted the session meanwhile`,
  );
}

/** Returns the call records to add, newest first: those that are newer than the newest one in the store. */
function missingRecords(before: LoadedState | null, wanted: LoadedState): readonly CallRecord[] {
  const { callRecords = [] } = wanted;
  const newest = JSON.stringify(before?.callRecords?.[0]);
  const known = callRecords.findIndex((record) => JSON.stringify(record) === newest);
  return known < 0 ? callRecords : callRecords.slice(0, known);
}

/**
 * Returns a revision for a save before the one that produces `revision`: a save carries one call record, so a state with
 * several takes several. A copy that ends in between is an older copy, which the next one completes.
 */
function stepTo(revision: Revision): Revision {
  const seq = Math.max(0, revisionSeq(revision) - 1);
  return `${seq}.${uuidv7().replaceAll("-", "")}`;
}

/**
 * Relation of a stored state to the expected one:
 * - `absent`; `same`: equal revisions, or neither exists;
 * - `older`: an unchanged earlier copy; `newer`: a copy that was continued;
 * - `later`: an unchanged copy of a later state: the original was rolled back or recreated;
 * - `own`: the store has a history of its own.
 */
export type StateRelation = "absent" | "same" | "older" | "newer" | "later" | "own";

/**
 * Compares two states by revision: each names one save of one session, in every store.
 *
 * @param wanted - null where only a log is expected
 */
export async function stateRelation(
  store: AgentStateStore,
  slot: Slot,
  stored: LoadedState | null,
  wanted: LoadedState | null,
): Promise<StateRelation> {
  if (stored === null) return wanted === null ? "same" : "absent";
  if (wanted === null) return "own";
  if (stored.revision === wanted.revision) return "same";
  const isEarlier = revisionSeq(stored.revision) < revisionSeq(wanted.revision);
  if (await hasCopyOf(store, slot, stored.revision)) return isEarlier ? "older" : "later";
  if (isEarlier) return "own";
  return (await hasCopyOf(store, slot, wanted.revision)) ? "newer" : "own";
}
