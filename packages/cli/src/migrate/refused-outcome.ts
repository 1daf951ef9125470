import type { Slot } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import type { SessionVerdict } from "../transfer/session-verdict.js";
import type { SessionOutcome } from "./session-outcome.js";
import { sideNote } from "./side-note.js";
import type { StorePair } from "./store-pair.js";

/** The outcome for a session of which the target has something else, with both sides. */
export async function refusedOutcome(
  { source, target }: StorePair,
  slot: Slot,
  verdict: Extract<SessionVerdict, { readonly reason: string }>,
  states: { readonly wanted: LoadedState | null; readonly stored: LoadedState | null },
): Promise<SessionOutcome> {
  const [sourceNote, targetNote] = await Promise.all([
    sideNote(source, slot, states.wanted),
    sideNote(target, slot, states.stored),
  ]);
  return {
    kind: verdict.kind === "damaged" ? "mismatch" : "conflict",
    slot,
    reason: verdict.reason,
    source: sourceNote,
    target: targetNote,
  };
}
