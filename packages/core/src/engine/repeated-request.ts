import { CallIdReusedError } from "../errors/errors.js";
import type { AgentReply } from "../events/agent-reply.js";
import type { Message } from "../message/message.js";
import { toolResultsOf } from "../message/read-message.js";
import { describeSlot } from "../slot/slot.js";
import type { RunRecord } from "../state/sections.js";
import type { ReadInput } from "./call-input.js";
import type { CallScope } from "./call-scope.js";
import { blockId } from "./loop/reply-draft.js";
import type { OpenSession } from "./session/open-session.js";
import { messagesOf, recallReply, recordOf } from "./session/run-records.js";
import type { KeptAnswer } from "./session/take-in.js";
import { emitResult } from "./tools/tool-results.js";

/**
 * Says that the call goes on with an earlier run of its own: from its record, or from what it was to answer. Listeners may have
 * seen results of tools that were not saved, and none of those that a later run waited for: they are told how those calls ended.
 */
export function reportResumed(
  { emit, run, session }: CallScope,
  record: RunRecord | null,
  own: KeptAnswer | undefined,
): void {
  if (!record && !own) return;
  const resumedRunId = record ? record.runId : own?.entryId;
  if (resumedRunId === run.runId) return;
  const reason = record?.reason ?? "error";
  const found = record && messagesOf(session.state.messages, record);
  const said = found?.own ?? [];
  const isClosing = ({ id }: Message) => session.closingIds.has(id);
  const messageIds = said.filter((message) => !isClosing(message)).map(({ id }) => id);
  const resumed = resumedRunId !== undefined && { resumedRunId };
  emit({ type: "run_resumed", ...resumed, reason, messageIds });
  const unheard = [...said.filter(isClosing), ...(found?.results ?? [])];
  for (const result of unheard.flatMap(toolResultsOf)) emitResult({ emit }, result);
}

/** Returns the record of the run that a repeated or resuming call goes on with; null for a new call. */
export function earlierRun(scope: CallScope, input: ReadInput | null): RunRecord | null {
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
export function sameRequest(scope: CallScope, own: KeptAnswer, input: ReadInput | null): void {
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
export function ownRun({ run, session }: CallScope, inputIds: readonly string[]): RunRecord | null {
  if (inputIds.length === 0) return null;
  const present = new Set(session.state.messages.map(({ id }) => id));
  if (!inputIds.every((id) => present.has(id))) return null;
  return { ...run, messageId: "", reason: "error", inputIds };
}

/** Answers from a record, and streams the reply as the first run did. */
export async function replay(scope: CallScope, record: RunRecord): Promise<AgentReply> {
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
