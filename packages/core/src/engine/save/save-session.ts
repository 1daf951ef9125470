import {
  StateConflictError,
  StateTooLargeError,
  StoreError,
  UnknownOutcomeError,
} from "../../errors/store-errors.js";
import type { JsonObject } from "../../json/json.js";
import type { Message } from "../../message/message.js";
import { messageBytes } from "../../message/read-message.js";
import type { StateWrite } from "../../ports/agent-state-store.js";
import type { CallOutcome, LogDraft } from "../../ports/conversation-log.js";
import { describeSlot, slotText } from "../../slot/slot.js";
import { uuidv7 } from "../../slot/uuid.js";
import { LiveState } from "../../state/live-state.js";
import { withDeadline } from "../../store-kit/deadline.js";
import { retryWrite, saveWithRetry } from "../../store-kit/save-with-retry.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import type { CallScope } from "../call-scope.js";
import type { OpenSession } from "../session/open-session.js";
import { mergeHeads } from "./merge-heads.js";

/** How a session is saved. */
export interface SaveOptions {
  /** The last save of this holder: where the store can, the lease goes back with it; the state goes into the cache. */
  readonly final: boolean;
  /** How the call ended, for the log. */
  readonly outcome?: CallOutcome | undefined;
  /** Whether `merge-append` may be used: not after step saves, nor for calls that resumed open calls. */
  readonly mergeable?: boolean | undefined;
}

/** The part of a call's scope that a save needs. */
export type SavedScope = Pick<CallScope, "parts" | "session" | "emit">;

/** How long a call that failed tries to say so in the log. */
const maxRecordMs = 5_000;

/** How often a merge or an overwrite is tried again when somebody saves in between yet another time. */
const maxMerges = 8;

/**
 * Writes what changed: log records first or with the state, then the state, compare-and-set on the revision.
 *
 * @throws StateConflictError when somebody else saved and the policy does not resolve it
 */
export async function saveSession(scope: SavedScope, options: SaveOptions): Promise<void> {
  const { parts, session } = scope;
  try {
    session.gather();
    if (options.outcome) session.log.callEnd(options.outcome);
    const drafts = session.log.drafts;
    if (!parts.fused.log) await appendLog(parts, session, drafts);
    try {
      await commit(scope, options, drafts);
    } catch (error) {
      if (!StateConflictError.is(error)) throw error;
      await resolveConflict(scope, options, drafts, error);
    }
    session.log.written(parts.fused.log ? drafts.length : 0);
    session.hasSavedSteps ||= !options.final;
    if (options.final)
      parts.cache.put(
        slotText(session.slot),
        session.state.successor(),
        session.revision as string,
      );
  } catch (error) {
    session.hasSavedSteps ||= !options.final && UnknownOutcomeError.is(error);
    if (options.final) {
      const lost = StoreError.is(error) && error.errorClass === "CONFLICT";
      await recordUnsaved(scope, lost ? "conflict" : "error");
    }
    throw error;
  }
}

async function commit(
  { parts, session, emit }: SavedScope,
  options: SaveOptions,
  drafts: readonly LogDraft[],
  rewrite = false,
): Promise<void> {
  const { state, slot } = session;
  const headText = JSON.stringify(state.head());
  const headBytes = Buffer.byteLength(headText, "utf8");
  if (headBytes > parts.settings.limits.headBytes)
    throw new StateTooLargeError(
      `the state of ${describeSlot(slot)} has ${headBytes} bytes beside its messages; limits.headBytes allows ${parts.settings.limits.headBytes}`,
    );
  const described = state.contextDelta();
  const delta = rewrite ? { keep: 0, replace: [], append: state.context.slice() } : described;
  const write: StateWrite = {
    op: uuidv7(),
    expected: session.revision,
    head: JSON.parse(headText) as JsonObject,
    ...delta,
    ...(parts.fused.gate && { lease: session.lease.token, release: options.final }),
    ...(parts.fused.log && drafts.length > 0 && { log: drafts }),
  };
  const began = performance.now();
  session.revision = await saveWithRetry(parts.stateStore, slot, write, {
    deadlineMs: parts.settings.saveDeadlineMs,
  });
  state.markSaved(described);
  emit({
    type: "state_saved",
    bytes:
      headBytes +
      delta.append.reduce((sum, message) => sum + messageBytes(message), 0) +
      delta.replace.reduce((sum, [, message]) => sum + messageBytes(message), 0),
    durationMs: performance.now() - began,
    revision: session.revision,
    final: options.final,
  });
}

async function appendLog(
  parts: AgentParts,
  session: OpenSession,
  drafts: readonly LogDraft[],
): Promise<void> {
  if (drafts.length === 0) return;
  await retryWrite(session.slot, () => parts.log.append(session.slot, drafts), {
    deadlineMs: parts.settings.saveDeadlineMs,
  });
  session.log.written(drafts.length);
}

async function resolveConflict(
  scope: SavedScope,
  options: SaveOptions,
  drafts: readonly LogDraft[],
  conflict: StateConflictError,
): Promise<void> {
  const { parts, session } = scope;
  const policy = parts.settings.conflictPolicy;
  if (policy === "fail" || (policy === "merge-append" && options.mergeable !== true))
    throw conflict;
  const mine = session.state;
  let last = conflict;
  for (let attempt = 0; attempt < maxMerges; attempt++) {
    const stored = await parts.stateStore.load(session.slot);
    if (stored === "unchanged") throw last;
    if (policy === "merge-append") {
      if (stored === null) throw last;
      session.state = mergeAppend(session, mine, stored, last);
    }
    session.revision = stored?.revision ?? null;
    try {
      await commit(scope, options, drafts, policy === "overwrite");
      return;
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
  stored: { head: JsonObject; messages: readonly Message[] },
  conflict: StateConflictError,
): LiveState {
  const head = JSON.parse(JSON.stringify(mine.head())) as JsonObject;
  const merged = mergeHeads(session.baseHead, head, stored.head);
  if ("conflict" in merged)
    throw new StateConflictError(
      `${describeSlot(session.slot)}: another call and this one both changed ${merged.conflict}, which cannot be merged`,
      { cause: conflict },
    );
  const state = LiveState.fromParts({ head: merged.head, messages: stored.messages });
  if (Object.keys(LiveState.fromParts(stored).openCalls).length > 0)
    throw new StateConflictError(
      `${describeSlot(session.slot)}: another call left tool calls open, and messages cannot be appended behind them`,
      { cause: conflict },
    );
  const present = new Set(state.context.map(({ id }) => id));
  // As they stand in this call's context; what a compaction took out of it comes back with the base.
  const standing = new Map(mine.context.map((message) => [message.id, message]));
  for (const [id, message] of session.said)
    if (!present.has(id)) state.contextMutable().push(standing.get(id) ?? message);
  state.takePushed();
  return state;
}

/** What happened goes into the log also when it was not committed; as well as that can be done now. */
export async function recordUnsaved(
  { parts, session }: SavedScope,
  outcome: CallOutcome,
): Promise<void> {
  session.gather();
  // What was saved before the conflict stays in the session, unless its next holder takes it back and says so.
  session.log.callEnd(outcome === "conflict" && session.hasSavedSteps ? "error" : outcome);
  const { drafts } = session.log;
  await retryWrite(session.slot, () => parts.log.append(session.slot, drafts), {
    deadlineMs: Math.min(parts.settings.saveDeadlineMs, maxRecordMs),
  }).catch(() => undefined);
}

/** Saves the steps so far, with `persistence: "step"`. */
export async function saveStep(scope: CallScope): Promise<void> {
  const { parts, session, callId, newInput } = scope;
  if (parts.settings.persistence !== "step") return;
  session.gather();
  session.state.unfinishedRun = {
    callId,
    messageIds: [...session.said.keys()],
    before: session.baseHead,
    ...(newInput.some(({ id }) => !session.said.has(id)) && { inputUnsaid: true }),
  };
  await saveSession(scope, { final: false });
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
  const drafts = [...session.log.drafts];
  if (drafts.length === 0) return;
  const { slot } = session;
  const noAnswer = () => new UnknownOutcomeError(`the log of ${describeSlot(slot)} gave no answer`);
  try {
    await withDeadline(() => parts.log.append(slot, drafts), maxWriteAheadMs, noAnswer);
    session.log.written(drafts.length);
  } catch {
    // The save, which has to succeed, will tell.
  }
}
