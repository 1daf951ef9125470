import { UnknownOutcomeError } from "../../errors/store-errors.js";
import type { Revision } from "../../ports/agent-state-store.js";
import type { CallOutcome, LogDraft } from "../../ports/conversation-log.js";
import { describeSlot } from "../../slot/slot.js";
import { withDeadline } from "../../store-kit/deadline.js";
import { nextRevision } from "../../store-kit/revision.js";
import { retryWrite } from "../../store-kit/save-with-retry.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { CallScope } from "../call-scope.js";
import type { OpenSession } from "../session/open-session.js";

/** The part of a call's scope that its log needs. */
type LoggedScope = Pick<CallScope, "parts" | "session">;

/**
 * Adds the marks that say how runs ended. Where the log is written before the state, they name the revision that this save
 * will produce: readers believe them once that revision is stored.
 *
 * @returns that revision
 */
export function writeEnds(
  { parts, session }: LoggedScope,
  outcome: CallOutcome | undefined,
  isMerged: boolean,
): Revision | undefined {
  const { log, startedFrom: from, knownEnds } = session;
  if (parts.fused.log) {
    if (outcome) log.callEnd(outcome, undefined, isMerged);
    return undefined;
  }
  if (!outcome && !log.endsOthers) return undefined;
  const over = [...knownEnds].filter((revision) => revision !== from);
  const lineage = { from, over, to: nextRevision(session.revision) };
  log.nameSave(lineage);
  if (outcome) log.callEnd(outcome, lineage, isMerged);
  return lineage.to;
}

/** Writes log records ahead of the state, where the store does not save both together. */
export async function appendLog(
  parts: AgentParts,
  session: OpenSession,
  drafts: readonly LogDraft[],
): Promise<void> {
  if (drafts.length === 0) return;
  await retryWrite(session.slot, () => parts.log.append(session.slot, drafts), {
    deadlineMs: storeTimeMs(parts),
  });
  session.log.written(drafts);
}

/** Time for which a write is repeated: less when the agent is shutting down. */
export function storeTimeMs({ settings, lifecycle }: AgentParts): number {
  return Math.min(settings.saveDeadlineMs, Math.max(lifecycle.leftMs(), 1));
}

/** Time for which a failed call tries to say so in the log. */
const maxRecordMs = 5_000;

/** Records in the log what happened although it was not committed; best effort. */
export async function recordUnsaved(
  { parts, session }: LoggedScope,
  outcome: CallOutcome,
): Promise<void> {
  session.gather();
  // What was saved before the conflict stays in the session, unless its next holder takes it back and says so.
  const isKept = outcome === "conflict" && session.hasSavedSteps;
  session.log.unsavedEnd(isKept ? "error" : outcome, session.savedMessages);
  const drafts = session.log.saidDrafts;
  await retryWrite(session.slot, () => parts.log.append(session.slot, drafts), {
    deadlineMs: Math.min(storeTimeMs(parts), maxRecordMs),
  }).catch(() => undefined);
}

/** As long as any command of a store may take. */
const maxWriteAheadMs = 5_000;

/**
 * Writes what the log has not seen yet before the call ends: what has left the context, or never was in it whole, can then
 * be found by the agent's own tools within the same call.
 *
 * Where it fails, nothing is lost: the records are written with the next save. A call that was stopped is being saved, while
 * a compaction that does not heed its signal may still run.
 */
export async function writeAhead({ parts, session, stop }: CallScope): Promise<void> {
  if (stop.kind !== null) return;
  session.gather();
  const drafts = session.log.saidDrafts;
  if (drafts.length === 0) return;
  const { slot } = session;
  const noAnswer = () => new UnknownOutcomeError(`the log of ${describeSlot(slot)} gave no answer`);
  try {
    await withDeadline(() => parts.log.append(slot, drafts), maxWriteAheadMs, noAnswer);
    session.log.written(drafts);
  } catch {
    // The save, which has to succeed, will tell.
  }
}
