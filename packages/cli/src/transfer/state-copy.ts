import { type AgentStateStore, type Revision, type Slot, StateConflictError } from "@holdfast/core";
import {
  type LoadedState,
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
export async function hasCopyOf(
  store: AgentStateStore,
  slot: Slot,
  revision: Revision,
): Promise<boolean> {
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

/**
 * Saves a copy of a state under its original revision: equal revisions then mean equal states in both stores, and data
 * encrypted for a revision can be decrypted.
 *
 * @param also - revision the store holds now, and what to write with the state
 * @returns the state as read back
 * @throws StateConflictError when the store holds a different state
 */
export async function saveCopy(
  store: AgentStateStore,
  slot: Slot,
  { revision, head, messages }: LoadedState,
  also: Pick<StateWrite, "expected" | "lease" | "log">,
): Promise<LoadedState> {
  const write = { ...also, revision, head, keep: 0, replace: [], append: messages };
  // The last key is random: such a copy cannot be told from a session of the store's own.
  for (const op of [...copyOps(revision), `copy:${revision}:${uuidv7()}`]) {
    await saveWithRetry(store, slot, { ...write, op });
    const stored = await store.load(slot);
    if (stored !== null && stored !== "unchanged" && stored.revision === revision) return stored;
    // Null: the store remembers a copy that was deleted since. Otherwise another save came after this one.
    if (stored !== null) break;
  }
  throw new StateConflictError(
    `revision ${revision} was not kept: another program saved or deleted the session meanwhile`,
  );
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
