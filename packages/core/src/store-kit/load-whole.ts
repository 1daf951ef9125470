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
 * @throws StoreError
 */
export async function loadWhole(
  store: Pick<AgentStateStore, "load">,
  slot: Slot,
): Promise<LoadedState | null> {
  const answer = await store.load(slot);
  if (answer === null || isWhole(answer)) return answer;
  throw new StateCorruptError(
    `the store answered a load of ${describeSlot(slot)} with changes, although no revision was named`,
  );
}

/**
 * Loads the whole state of a slot as {@link loadWhole}, one that was rolled back behind a known revision marked so where the store
 * can tell.
 *
 * @throws StoreError
 */
export async function loadBeside(
  store: Pick<AgentStateStore, "load">,
  slot: Slot,
  known: Revision | undefined,
): Promise<LoadedState | null> {
  const answer = known === undefined ? undefined : await store.load(slot, known);
  if (answer === null || (answer !== undefined && isWhole(answer))) return answer;
  return loadWhole(store, slot);
}

/** Tells whether an answer is a whole state, rather than changes, "unchanged" or none. */
export function isWhole(answer: LoadAnswer): answer is LoadedState {
  return typeof answer === "object" && answer !== null && "messages" in answer;
}
