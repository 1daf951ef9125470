import {
  type AgentStateStore,
  type LoadedState,
  type Revision,
  revisionSeq,
  type Slot,
  StateConflictError,
  type StateWrite,
  saveWithRetry,
  uuidv7,
} from "@holdfast/core";

/** A revision no state ever has: a save based on it is refused. */
const NEVER = `0.${"0".repeat(32)}`;

/** A store of files remembers saves beyond a delete, so a session that is copied again needs another name for it. */
const LIVES = 4;

/**
 * The names under which a copy may save a revision. A store remembers the last saves of a slot by their names, so it can
 * tell whether what it holds is a copy, and no journal is needed that tells.
 */
function copyOps(revision: Revision): string[] {
  return Array.from(
    { length: LIVES },
    (_, life) => `copy:${revision}${life === 0 ? "" : `:${life}`}`,
  );
}

/** Whether a store got this revision of a session as a copy, and has saved it at most some times since. */
export async function hasCopyOf(
  store: AgentStateStore,
  slot: Slot,
  revision: Revision,
): Promise<boolean> {
  for (const op of copyOps(revision)) {
    try {
      // A save that is remembered is answered and not applied; any other is refused, because of what it is based on.
      const write = { op, expected: NEVER, head: {}, keep: 0, replace: [], append: [] };
      if ((await store.save(slot, write)) === revision) return true;
    } catch (error) {
      if (!StateConflictError.is(error)) throw error;
    }
  }
  return false;
}

/**
 * Saves a copy of a state under its own revision: equal revisions are then equal states in both stores, and what is sealed
 * for a revision can be opened.
 *
 * @param also - what the store holds now, and what it is to take along
 * @returns the state as the store gives it back
 * @throws StateConflictError when it holds something else
 */
export async function saveCopy(
  store: AgentStateStore,
  slot: Slot,
  { revision, head, messages }: LoadedState,
  also: Pick<StateWrite, "expected" | "lease" | "log">,
): Promise<LoadedState> {
  const write = { ...also, revision, head, keep: 0, replace: [], append: messages };
  // The last name is one that nobody can guess: such a copy cannot be told from a session of the store's own.
  for (const op of [...copyOps(revision), `copy:${revision}:${uuidv7()}`]) {
    await saveWithRetry(store, slot, { ...write, op });
    const stored = await store.load(slot);
    if (stored !== null && stored !== "unchanged" && stored.revision === revision) return stored;
    // It remembers a copy that was deleted since; anything else was saved over this one.
    if (stored !== null) break;
  }
  throw new StateConflictError(
    `revision ${revision} was not kept: another program saved or deleted the session meanwhile`,
  );
}

/**
 * How a stored state relates to the one that should be there:
 * - `absent`; `same`: by its revision, or because neither is there;
 * - `older`: an earlier copy, which nobody has changed; `newer`: it was copied and went on from there;
 * - `later`: a copy that nobody has changed, of a later state: the original was set back, or begun anew;
 * - `own`: the store has a history of its own.
 */
export type StateRelation = "absent" | "same" | "older" | "newer" | "later" | "own";

/**
 * Compares by revisions: each names one save of one session, wherever it is copied.
 *
 * @param wanted - null where only a log should be there
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
