import {
  LeaseLostError,
  StateConflictError,
  StoreError,
  UnknownOutcomeError,
} from "../../errors/store-errors.js";
import { messageBytes } from "../../message/read-message.js";
import type {
  CallRecordWrite,
  Revision,
  SessionInfo,
  StateWrite,
} from "../../ports/agent-state-store.js";
import type { CallOutcome, LogDraft } from "../../ports/conversation-log.js";
import { slotText } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import { withUndo } from "../../state/head-undo.js";
import { RECORDS_SCHEMA_VERSION } from "../../state/migrate-document.js";
import { saveWithRetry } from "../../store-kit/save-with-retry.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { CallScope } from "../call-scope.js";
import type { OpenSession } from "../session/open-session.js";
import { factsOf } from "../session/session-facts.js";
import { isSuspended, openCallsOf } from "../tools/open-calls.js";
import { type CheckedSections, checkState } from "./check-state.js";
import { type Resolution, resolveConflict } from "./resolve-conflict.js";
import { saveFailure } from "./save-failure.js";
import { appendLog, recordUnsaved, storeTimeMs, writeEnds } from "./write-log.js";

/** Settings of a save. */
export interface SaveOptions {
  /** The last save of this holder: where the store can, the lease goes back with it; the state goes into the cache. */
  readonly final: boolean;
  /** The first save of a run, before its first model call: keeps the input, and makes saves of an earlier holder conflict. */
  readonly opening?: boolean | undefined;
  /** Outcome of the call, for the log. */
  readonly outcome?: CallOutcome | undefined;
  /** True when `merge-append` may be used: not after step saves, nor for calls that resumed open calls. */
  readonly mergeable?: boolean | undefined;
  /** The session must not exist yet: a conflict is the caller's, whatever the policy says. */
  readonly isNew?: boolean | undefined;
  /** Party to blame for a bad value, in words. @default a tool, hook or guard of the call */
  readonly writer?: string | undefined;
  /** The state's sections, if they were checked just before. */
  readonly checked?: CheckedSections | undefined;
}

/** The part of a call's scope that a save needs. */
export type SavedScope = Pick<CallScope, "parts" | "session" | "emit" | "feed">;

/**
 * Writes what changed: log records first or with the state, then the state, compare-and-set on the revision.
 *
 * @throws StateConflictError when another process saved and the policy does not resolve it
 */
export async function saveSession(scope: SavedScope, options: SaveOptions): Promise<void> {
  const { parts, session } = scope;
  const isStep = !options.final && !options.opening;
  if (isStep) await scope.feed?.flushed();
  try {
    if (!session.holdsLease()) throw session.leaseLost();
    session.gather();
    // Nothing may reach the log of a state that is refused.
    const checked = options.checked ?? checkState(parts, session, options.writer);
    try {
      await writeAll(scope, { ...options, checked });
    } catch (error) {
      const conflict = conflictIn(error);
      if (!conflict || LeaseLostError.is(error) || options.opening || options.isNew) throw error;
      const isResolved = await resolveConflict(scope, options, conflict, (how) =>
        writeAll(scope, { ...options, checked: undefined }, how),
      );
      if (!isResolved) throw error;
    }
    session.hasSavedSteps ||= isStep;
    session.savedMessages = session.log.messageIds.length;
    const key = slotText(session.slot);
    if (options.final)
      parts.cache.put(
        key,
        session.state.successor(session.savedHead, callRecordOf(parts, session)),
        session.revision as string,
        session.savedHead.length,
      );
    else parts.cache.lend(key, session);
  } catch (error) {
    if (isStep && UnknownOutcomeError.is(error)) {
      session.hasSavedSteps = true;
      session.savedMessages = session.log.messageIds.length;
    }
    if (options.final) {
      const lost = StoreError.is(error) && error.errorClass === "CONFLICT";
      // The caller is told that nothing was written, so that nobody finds the input either.
      if (StateConflictError.is(error)) session.dropped.push(session.run.runId);
      await recordUnsaved(scope, lost ? "conflict" : "error");
    }
    throw saveFailure(session, error);
  }
}

/** Saves the steps so far, with `persistence: "step"`. */
export async function saveStep(scope: CallScope): Promise<void> {
  if (scope.parts.settings.persistence === "step") await saveNow(scope);
}

/** Saves the steps so far, whatever the persistence. */
export async function saveNow(scope: CallScope): Promise<void> {
  beginUnfinished(scope);
  await saveSession(scope, { final: false });
}

/** Notes in the state which run its saves belong to, until that run ends. */
export function beginUnfinished({
  session,
  newInput,
  inputIds,
  inputHash,
  run,
  named,
}: CallScope): void {
  const { input } = session.state.unfinishedRun ?? {};
  const isSaid = newInput.every(({ id }) => session.said.has(id));
  session.gather();
  const { lastId } = session;
  const { messageIds } = session.log;
  session.state.unfinishedRun = {
    ...run,
    named,
    inputHash,
    inputIds,
    messageIds,
    ...(lastId !== messageIds.at(-1) && { lastId }),
    before: session.baseHead,
    ...(!isSaid && { inputUnsaid: true, ...(input && { input }) }),
  };
}

/** The conflict that a save ended with, also where the store has forgotten whether an earlier attempt was applied. */
function conflictIn(error: unknown): StateConflictError | undefined {
  const found = UnknownOutcomeError.is(error) ? error.cause : error;
  return StateConflictError.is(found) ? found : undefined;
}

/** Writes the log, then the state, or both together. */
async function writeAll(
  scope: SavedScope,
  options: SaveOptions,
  how: Resolution | "first" = "first",
): Promise<void> {
  const { parts, session } = scope;
  const { log } = session;
  const to = writeEnds(scope, options.outcome, how === "merge");
  const drafts = [...log.drafts];
  if (!parts.fused.log) {
    await appendLog(parts, session, drafts);
    // The process may have stood still meanwhile, until another had the session.
    if (!session.holdsLease()) throw session.leaseLost();
  }
  await commit(scope, options, { drafts, to, rewrite: how === "overwrite" });
  log.written(drafts);
  log.saved();
  if (to === undefined) return;
  // The marks that name this revision name those before it.
  session.knownEnds.clear();
  session.knownEnds.add(to);
}

function callRecordOf(
  { settings }: AgentParts,
  { record }: OpenSession,
): (CallRecordWrite & { readonly record: NonNullable<OpenSession["record"]> }) | undefined {
  const keep = settings.rememberCalls.max;
  return record && keep > 0 ? { record, keep } : undefined;
}

/** Returns what listings show of the session. */
function infoOf({ state }: OpenSession): SessionInfo {
  const { unfinishedRun, resumableRun } = state;
  // What a run was cut before goes on with it; what asks waits for a person all the same.
  const waits = openCallsOf(state).some(
    (one) => resumableRun === null || one.state === "asking" || isSuspended(state, one),
  );
  return {
    unfinished: unfinishedRun !== null || resumableRun !== null,
    waiting: unfinishedRun === null && waits,
    counts: { messages: state.messages.length },
    ...factsOf(state),
  };
}

/** Details of {@link commit}. */
interface Commit {
  readonly drafts: readonly LogDraft[];
  /** Revision that the save is to produce. @default one that the store chooses */
  readonly to: Revision | undefined;
  /** Write the whole state, whatever the store holds. */
  readonly rewrite: boolean;
}

async function commit(
  { parts, session, emit }: SavedScope,
  options: SaveOptions,
  { drafts, to, rewrite }: Commit,
): Promise<void> {
  const { state, slot } = session;
  const callRecord = callRecordOf(parts, session);
  if (!parts.fused.log) state.lastEnds = to === undefined ? [...session.knownEnds] : [to];
  const written = state.head(options.checked ?? checkState(parts, session, options.writer));
  const least = callRecord || state.hasCallRecords ? RECORDS_SCHEMA_VERSION : 1;
  const readable = { ...written, minReader: Math.max(Number(written["minReader"]), least) };
  const head = withUndo(parts.seal?.seal(slot, readable) ?? readable);
  const headText = JSON.stringify(head);
  const described = state.contextDelta();
  const delta = rewrite ? { keep: 0, replace: [], append: state.messages.slice() } : described;
  const write: StateWrite = {
    op: uuidv7(),
    expected: session.revision,
    head,
    ...delta,
    info: infoOf(session),
    ...(to !== undefined && { revision: to }),
    ...(callRecord && { callRecord }),
    ...(session.lease.inbox && session.taken.size > 0 && { takes: [...session.taken] }),
    ...(parts.fused.gate && { lease: session.lease.token, release: options.final }),
    ...(parts.fused.log && drafts.length > 0 && { log: drafts }),
  };
  const began = performance.now();
  session.revision = await saveWithRetry(parts.stateStore, slot, write, {
    deadlineMs: storeTimeMs(parts),
  });
  state.markSaved(described);
  session.savedHead = headText;
  await emptyInbox(parts, session);
  emit({
    type: "state_saved",
    bytes:
      Buffer.byteLength(headText) +
      delta.append.reduce((sum, message) => sum + messageBytes(message), 0) +
      delta.replace.reduce((sum, [, message]) => sum + messageBytes(message), 0),
    durationMs: performance.now() - began,
    revision: session.revision,
    final: options.final,
  });
}

/** Removes what the state now holds, where that is not part of the save. Left behind, it is recognised by its id. */
async function emptyInbox({ stateStore }: AgentParts, session: OpenSession): Promise<void> {
  const { taken, put, slot, lease, run } = session;
  // An input that the head had room for was never in the inbox.
  if (!put.has(run.runId)) taken.delete(run.runId);
  try {
    if (taken.size > 0 && !lease.inbox) await stateStore.inbox?.remove(slot, [...taken]);
    taken.clear();
  } catch {
    // The next save tries again.
  }
}
