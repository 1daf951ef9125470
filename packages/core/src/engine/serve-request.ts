import { CallIdReusedError } from "../errors/errors.js";
import type { AgentReply } from "../events/agent-reply.js";
import { describeSlot } from "../slot/slot.js";
import type { RunRecord } from "../state/sections.js";
import type { ReadInput } from "./call-input.js";
import type { CallScope } from "./call-scope.js";
import { blockId } from "./loop/reply-draft.js";
import { recordUnsaved } from "./save/save-session.js";
import { type EntryOptions, reopen } from "./session/enter-session.js";
import type { OpenSession } from "./session/open-session.js";
import { isUnfinished, messagesOf, recallReply, recordOf } from "./session/run-records.js";
import { type KeptAnswer, takeIn } from "./session/take-in.js";
import { StaleSession, Turn } from "./turn.js";

/** Request of a call to its session. */
export interface Request {
  /** Null: go on with an unfinished run. */
  readonly input: ReadInput | null;
  scopeOf(session: OpenSession): CallScope;
}

/** Thrown when a session has no unfinished run that a call without input could go on with; never reaches a caller. */
export class NothingToResume extends Error {
  override readonly name = "NothingToResume";
}

/** Attempts at a first save that saves of others come before. */
const maxOpenings = 8;

/**
 * Serves a request on its open session: a new one by a turn, a repeated one from its record when it was finished, and by
 * going on with its own run when it was not.
 *
 * @throws CallIdReusedError when the `callId` names an earlier call with another input
 */
export async function serveRequest(
  opened: OpenSession,
  entry: EntryOptions,
  { input, scopeOf }: Request,
): Promise<AgentReply> {
  let session = opened;
  let stale: StaleSession | undefined;
  for (let attempt = 1; ; attempt++) {
    const scope = scopeOf(session);
    try {
      const reply = await serve(scope, entry, input, stale);
      if (stale) await endUnsaved(scope);
      return reply;
    } catch (error) {
      const isStale = error instanceof StaleSession;
      if (isStale && attempt < maxOpenings) stale = error;
      else {
        if (stale) await endUnsaved(scope);
        throw isStale ? error.cause : error;
      }
    }
    session = await reopen(scope.parts, session, entry);
  }
}

/** @param stale - end of an earlier attempt, before which another process saved */
async function serve(
  scope: CallScope,
  entry: EntryOptions,
  input: ReadInput | null,
  stale: StaleSession | undefined,
): Promise<AgentReply> {
  const { parts, session } = scope;
  const entries = session.lease.inbox ?? (await parts.stateStore.inbox?.read(session.slot)) ?? [];
  const kept = takeIn(parts, session, entries, entry);
  const own = kept.findLast(({ callId }) => scope.named && callId === scope.callId);
  const record = earlierRun(scope, input) ?? ownRun(scope, stale?.inputIds ?? []);
  if (record && !isUnfinished(record)) {
    session.dropped.push(entry.runId);
    scope.feed?.leave();
    return replay(scope, record);
  }
  if (own) sameRequest(scope, own, input);
  if (!stale) reportResumed(scope, record, own);
  const said = input ?? own?.input ?? null;
  if (!said && !record) throw new NothingToResume("there is no unfinished run");
  await scope.feed?.claim();
  const answers = kept.filter((answer) => answer !== own);
  return new Turn(scope, { input: said, answers, continued: record }).run();
}

/**
 * Ends a run in the log that was answered from a record, or refused, after another process had saved before its first save:
 * the log has its input, which was written ahead of that save.
 */
async function endUnsaved(scope: CallScope): Promise<void> {
  const { parts, session } = scope;
  if (!parts.fused.log && !session.log.hasEnded) await recordUnsaved(scope, "conflict");
}

/** Says that the call goes on with an earlier run of its own: from its record, or from what it was to answer. */
function reportResumed(
  { emit, run, session }: CallScope,
  record: RunRecord | null,
  own: KeptAnswer | undefined,
): void {
  if (!record && !own) return;
  const resumedRunId = record ? record.runId : own?.entryId;
  if (resumedRunId === run.runId) return;
  const reason = record?.reason ?? "error";
  const messageIds = record ? messagesOf(session.state.messages, record).map(({ id }) => id) : [];
  const resumed = resumedRunId !== undefined && { resumedRunId };
  emit({ type: "run_resumed", ...resumed, reason, messageIds });
}

/** Returns the record of the run that a repeated or resuming call goes on with; null for a new call. */
function earlierRun(scope: CallScope, input: ReadInput | null): RunRecord | null {
  const { parts, session, callId, inputHash, named } = scope;
  const record = named ? recordOf(parts, session, callId) : null;
  if (input === null) {
    const { resumableRun } = session.state;
    return record ?? (resumableRun?.callId === callId ? resumableRun : null);
  }
  if (record?.inputHash === undefined || record.inputHash === inputHash) return record;
  throw callIdReused(session, callId);
}

/** Takes in the answer that an earlier run of the same call was to give: the present one gives it. */
function sameRequest(scope: CallScope, own: KeptAnswer, input: ReadInput | null): void {
  const { session, callId } = scope;
  if (input && own.hash !== scope.inputHash) throw callIdReused(session, callId);
  scope.inputHash ??= own.hash;
  session.taken.add(own.entryId);
}

function callIdReused(session: OpenSession, callId: string): CallIdReusedError {
  session.dropped.push(session.run.runId);
  return new CallIdReusedError(
    `callId ${JSON.stringify(callId)} of ${describeSlot(session.slot)} names an earlier call with another input; repeat that call with its own input, or choose a new callId`,
  );
}

/**
 * Returns a record of the present run itself, when its first save was made although it seemed to fail, and another process
 * has taken its input into the context since.
 */
function ownRun({ run, session }: CallScope, inputIds: readonly string[]): RunRecord | null {
  if (inputIds.length === 0) return null;
  const present = new Set(session.state.messages.map(({ id }) => id));
  if (!inputIds.every((id) => present.has(id))) return null;
  return { ...run, messageId: "", reason: "error", inputIds };
}

/** Answers from a record, and streams the reply as the first run did. */
async function replay(scope: CallScope, record: RunRecord): Promise<AgentReply> {
  const reply = await recallReply(scope, record);
  const { id: messageId, content } = reply.message;
  for (const [index, block] of content.entries())
    if (block.type === "text" && block.text !== "")
      scope.emit({
        type: "text_delta",
        text: block.text,
        messageId,
        blockId: blockId(messageId, index),
      });
  return reply;
}
