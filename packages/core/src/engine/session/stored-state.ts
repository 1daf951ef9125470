import { type Slot, slotText } from "../../slot/slot.js";
import type { LiveState } from "../../state/live-state.js";
import { isWhole, loadWhole } from "../../store-kit/load-whole.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { stateOf } from "./open-session.js";

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
