import { StateConflictError } from "../../errors/store-errors.js";
import type { JsonObject } from "../../json/json.js";
import type { LoadedState } from "../../ports/agent-state-store.js";
import { describeSlot, slotText } from "../../slot/slot.js";
import { LiveState } from "../../state/live-state.js";
import { loadWhole } from "../../store-kit/load-whole.js";
import type { OpenSession } from "../session/open-session.js";
import { reportRollback } from "../session/open-stored.js";
import { mergeHeads } from "./merge-heads.js";
import type { SavedScope, SaveOptions } from "./save-session.js";

/** Attempts at a merge or an overwrite when other saves keep coming in between. */
const maxMerges = 8;

/** A way to save after another process has: behind what it saved, or in its place. */
export type Resolution = "merge" | "overwrite";

/**
 * Saves again after another process has saved, as the agent's policy says.
 *
 * @param save - saves the session's state on top of its revision
 * @returns false when the policy leaves the conflict to the caller
 * @throws StateConflictError when the policy cannot resolve it
 */
export async function resolveConflict(
  { parts, session, emit }: SavedScope,
  options: Pick<SaveOptions, "mergeable">,
  conflict: StateConflictError,
  save: (how: Resolution) => Promise<void>,
): Promise<boolean> {
  const policy = parts.settings.conflictPolicy;
  if (policy === "fail" || (policy === "merge-append" && options.mergeable !== true)) return false;
  const mine = session.state;
  const known = parts.cache.known(slotText(session.slot));
  let last = conflict;
  for (let attempt = 0; attempt < maxMerges; attempt++) {
    // What others saved since the first look is no loss.
    const before = attempt === 0 ? known : undefined;
    const stored = await loadWhole(parts.stateStore, session.slot, before?.revision);
    if (before) reportRollback(parts, session, before, stored, { emit }, conflict);
    if (policy === "merge-append") {
      if (stored === null) throw last;
      session.state = mergeAppend(session, mine, stored, last);
      session.leaveFound();
    }
    session.revision = stored?.revision ?? null;
    if (stored)
      for (const revision of [stored.revision, ...LiveState.fromParts(stored).lastEnds])
        session.knownEnds.add(revision);
    try {
      await save(policy === "overwrite" ? policy : "merge");
      return true;
    } catch (error) {
      if (!StateConflictError.is(error)) throw error;
      last = error;
    }
  }
  throw last;
}

/** The stored state with this call's messages behind it; heads merged section by section. */
function mergeAppend(
  session: OpenSession,
  mine: LiveState,
  stored: LoadedState,
  conflict: StateConflictError,
): LiveState {
  const head = JSON.parse(JSON.stringify(mine.head())) as JsonObject;
  const merged = mergeHeads(session.baseHead, head, stored.head);
  if ("conflict" in merged)
    throw new StateConflictError(
      `${describeSlot(session.slot)}: another call and this one both changed ${merged.conflict}, which cannot be merged`,
      { cause: conflict },
    );
  const state = LiveState.fromParts({ ...stored, head: merged.head });
  if (Object.keys(LiveState.fromParts(stored).openCalls).length > 0)
    throw new StateConflictError(
      `${describeSlot(session.slot)}: another call left tool calls open, and messages cannot be appended behind them`,
      { cause: conflict },
    );
  // Those that are stored already, such as an input that the other took in, move to the end: a turn stays in one piece.
  state.contextMutable().replaceAll(state.messages.filter(({ id }) => !session.said.has(id)));
  // What this call answers stands before the answer, also when the other has not taken it in.
  const present = new Set(state.messages.map(({ id }) => id));
  const missing = (session.continued?.input ?? []).filter(({ id }) => !present.has(id));
  state.contextMutable().splice(state.messages.length, 0, ...missing);
  // As they stand in this call's context; what a compaction took out of it comes back with the base.
  const standing = new Map(mine.context.map((message) => [message.id, message]));
  for (const [id, message] of session.said)
    state.contextMutable().push(standing.get(id) ?? message);
  // The other may run still; it may also have taken this run for dead.
  if (state.unfinishedRun?.runId === session.run.runId) state.unfinishedRun = null;
  if (state.resumableRun?.runId === session.run.runId) state.resumableRun = mine.resumableRun;
  if (session.record)
    state.finishedCalls = state.finishedCalls.filter(
      ({ callId }) => callId !== session.record?.callId,
    );
  state.takePushed();
  return state;
}
