import type { AgentStateStore, Slot } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";

/** The state of a session; null when there is none. */
export async function loadWhole(
  store: Pick<AgentStateStore, "load">,
  slot: Slot,
): Promise<LoadedState | null> {
  const state = await store.load(slot);
  // Only said of a revision that was named.
  return state === "unchanged" ? null : state;
}
