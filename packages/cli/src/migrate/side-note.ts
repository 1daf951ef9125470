import type { DistributedStore, Slot } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import type { SideNote } from "./session-outcome.js";

/** What a store has of a session, for a report. */
export async function sideNote(
  { log }: Pick<DistributedStore, "log">,
  slot: Slot,
  state: LoadedState | null,
): Promise<SideNote> {
  const [last] = await log.read(slot, { limit: 1 });
  return {
    revision: state?.revision ?? null,
    messages: state?.messages.length ?? 0,
    lastRecordAt: last?.at ?? null,
  };
}
