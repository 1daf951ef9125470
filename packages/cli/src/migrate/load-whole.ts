import type { AgentStateStore, LoadedState, Slot } from "@holdfast/core";

/** The state of a session; null when there is none. */
export async function loadWhole(
  store: Pick<AgentStateStore, "load">,
  slot: Slot,
): Promise<LoadedState | null> {
  const state = await store.load(slot);
  // Only said of a revision that was named.
  return state === "unchanged" ? null : state;
}
