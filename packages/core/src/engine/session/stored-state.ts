import { StateCorruptError } from "../../errors/store-errors.js";
import { describeSlot, type Slot, slotText } from "../../slot/slot.js";
import { LiveState, type StoredParts } from "../../state/live-state.js";
import { isWhole, loadWhole } from "../../store-kit/load-whole.js";
import type { AgentParts } from "../assemble/agent-parts.js";

/**
 * Returns a detached copy of the state that is stored now, also while a call runs; null when there is none.
 *
 * @param salvage - reads a damaged state as far as it goes
 */
export async function storedState(
  { stateStore, cache, seal }: AgentParts,
  slot: Slot,
  salvage = false,
): Promise<LiveState | null> {
  const cached = cache.peek(slotText(slot));
  // Copied before the store is asked: a call of this process may take it meanwhile.
  const copy = cached?.state.copy();
  const answer = await stateStore.load(slot, cached?.revision);
  if (answer === "unchanged" && copy) return copy;
  const isDelta = typeof answer === "object" && answer !== null && !isWhole(answer);
  if (isDelta && copy && !salvage) {
    seal?.check(slot, answer.head);
    return copy.advanced(answer).copy();
  }
  const loaded = answer === null || isWhole(answer) ? answer : await loadWhole(stateStore, slot);
  if (loaded && !salvage) seal?.check(slot, loaded.head);
  return loaded && stateOf(slot, loaded, salvage);
}

/**
 * The state in what a store returned.
 *
 * @param salvage - leaves out what cannot be read, instead of throwing
 * @throws StateCorruptError also when it is another session's
 */
export function stateOf(slot: Slot, loaded: StoredParts, salvage = false): LiveState {
  const { sessionId, userId } = slot;
  if (salvage) return LiveState.salvage(loaded, { sessionId, userId });
  let state: LiveState;
  try {
    state = LiveState.fromParts(loaded);
  } catch (error) {
    if (!StateCorruptError.is(error)) throw error;
    throw damaged(slot, error.message, error);
  }
  if (state.sessionId !== sessionId || state.userId !== userId)
    throw damaged(slot, "the store returned the state of another session");
  return state;
}

function damaged(slot: Slot, problem: string, cause?: unknown): StateCorruptError {
  return new StateCorruptError(
    `${describeSlot(slot)} is damaged: ${problem}. Read what is left of it with getAgentState(…, { salvage: true }), repair it with updateAgentState(…, edit, { salvage: true }), keep a copy with "holdfast sessions export", or remove it with deleteSession`,
    { cause },
  );
}
