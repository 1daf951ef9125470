import type { AgentStateStore, Slot } from "@holdfast/core";
import { type LoadedState, revisionSeq } from "@holdfast/core/store-kit";
import { hasCopyOf } from "./copy-op.js";

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
