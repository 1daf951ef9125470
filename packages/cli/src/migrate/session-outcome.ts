import type { DistributedStore, Revision, Slot } from "@holdfast/core";
import type { LoadedState } from "@holdfast/core/store-kit";
import type { SessionSummary } from "../transfer/session-digest.js";
import type { SessionVerdict } from "../transfer/session-verdict.js";
import type { StorePair } from "./open-pair.js";

/** Summary of a session in one store. */
export interface StoredSide {
  readonly revision: Revision | null;
  readonly messages: number;
  /** Time of the last record of its log; null without a log. */
  readonly lastRecordAt: string | null;
}

/**
 * Outcome of a session:
 * - `copied`: it was not on the target; `updated`: an older copy was updated; `present`: it was there already;
 * - `ahead`: it was copied before and continued on the target; it was left alone;
 * - `gone`: it was deleted at the source meanwhile;
 * - `missing`, `behind`: nothing or only part of it is on the target, and nothing was to be written;
 * - `conflict`: the target has a different session of that name; it was left alone;
 * - `mismatch`: the session read back from the target differs from the source;
 * - `busy`: a call on the target holds it; `failed`: it could not be read or written.
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

/** Outcome of a session, with details. */
export interface SessionOutcome {
  readonly kind: OutcomeKind;
  readonly slot: Slot;
  /** Summary at the source; absent where it was not read. */
  readonly summary?: SessionSummary | undefined;
  /** Ids of the inbox entries that were copied. */
  readonly entries?: readonly string[] | undefined;
  /** Reason of a problem; never contents of the session. */
  readonly reason?: string | undefined;
  readonly source?: StoredSide | undefined;
  readonly target?: StoredSide | undefined;
  /** The session was saved while it was copied: the copy is consistent, but not the newest. */
  readonly isMoving?: boolean | undefined;
}

/** Creates the outcome for a session that differs on the target, with both sides. */
export async function refusedOutcome(
  { source, target }: StorePair,
  slot: Slot,
  verdict: Extract<SessionVerdict, { readonly reason: string }>,
  states: { readonly wanted: LoadedState | null; readonly stored: LoadedState | null },
): Promise<SessionOutcome> {
  const [sourceNote, targetNote] = await Promise.all([
    storedSide(source, slot, states.wanted),
    storedSide(target, slot, states.stored),
  ]);
  return {
    kind: verdict.kind === "damaged" ? "mismatch" : "conflict",
    slot,
    reason: verdict.reason,
    source: sourceNote,
    target: targetNote,
  };
}

/** Summarises a session in one store. */
async function storedSide(
  { log }: Pick<DistributedStore, "log">,
  slot: Slot,
  state: LoadedState | null,
): Promise<StoredSide> {
  const [last] = await log.read(slot, { limit: 1 });
  return {
    revision: state?.revision ?? null,
    messages: state?.messages.length ?? 0,
    lastRecordAt: last?.at ?? null,
  };
}
