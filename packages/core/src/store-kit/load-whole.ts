import { StateCorruptError } from "../errors/store-errors.js";
import type {
  AgentStateStore,
  LoadAnswer,
  LoadedState,
  Revision,
} from "../ports/agent-state-store.js";
import { describeSlot, type Slot } from "../slot/slot.js";

/**
 * Loads the whole state of a slot; `null` when there is none.
 *
 * @param known - revision known of it: a store that can tell marks a state that does not go back to it as `rolledBack`
 * @throws StoreError
 */
export async function loadWhole(
  store: Pick<AgentStateStore, "load">,
  slot: Slot,
  known?: Revision,
): Promise<LoadedState | null> {
  const answer = await store.load(slot, known);
  if (answer === null || isWhole(answer)) return answer;
  if (known !== undefined) return loadWhole(store, slot);
  throw new StateCorruptError(
    `the store answered a load of ${describeSlot(slot)} with changes, although no revision was named`,
  );
}

/** Tells whether an answer is a whole state, rather than changes, "unchanged" or none. */
export function isWhole(answer: LoadAnswer): answer is LoadedState {
  return typeof answer === "object" && answer !== null && "messages" in answer;
}
