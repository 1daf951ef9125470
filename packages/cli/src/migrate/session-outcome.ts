import type { DistributedStore, LoadedState, Revision, Slot } from "@holdfast/core";
import type { SessionSummary } from "../transfer/session-digest.js";
import type { SessionVerdict } from "../transfer/session-verdict.js";
import type { StorePair } from "./open-pair.js";

/** What one store has of a session, in short. */
export interface SideNote {
  readonly revision: Revision | null;
  readonly messages: number;
  /** When the last record of its log was written; null without a log. */
  readonly lastRecordAt: string | null;
}

/**
 * What came of a session:
 * - `copied`: it was not on the target; `updated`: an older copy was brought up to date; `present`: all of it was there;
 * - `ahead`: it was copied before and the target went on with it; it was left alone;
 * - `gone`: it was deleted at the source meanwhile;
 * - `missing`, `behind`: nothing or only a part of it is there, and nothing was to be written;
 * - `conflict`: the target has another session of that name; it was left alone;
 * - `mismatch`: what the target gives back is not what the source has;
 * - `busy`: a call on the target kept it; `failed`: it could not be read or written.
 */
export type OutcomeKind =
  | "copied"
  | "updated"
  | "present"
  | "ahead"
  | "gone"
  | "missing"
  | "behind"
  | "conflict"
  | "mismatch"
  | "busy"
  | "failed";

/** What came of a session. */
export interface SessionOutcome {
  readonly kind: OutcomeKind;
  readonly slot: Slot;
  /** What it amounts to at the source; absent where that was not found out. */
  readonly summary?: SessionSummary | undefined;
  /** Why, where it is not as it should be; never contents. */
  readonly reason?: string | undefined;
  readonly source?: SideNote | undefined;
  readonly target?: SideNote | undefined;
  /** It was saved again while it was copied: what was copied existed, and is not the newest. */
  readonly isMoving?: boolean | undefined;
}

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

/** What a store has of a session, for a report. */
async function sideNote(
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
