import type { RuntimeContext } from "../../context/runtime-context.js";
import type { AgentReply, PendingCall } from "../../events/agent-reply.js";
import { createMessage } from "../../message/create-message.js";
import type { Message } from "../../message/message.js";
import { textOf } from "../../message/read-message.js";
import type { LiveState } from "../../state/live-state.js";
import type { FinishedCall } from "../../state/sections.js";
import { withBlobs } from "../../store-kit/log/with-blobs.js";
import type { AgentParts } from "../assemble/agent-parts.js";
import { outputOf } from "../loop/structured-output.js";
import { openCallsOf } from "../tools/close-calls.js";
import type { OpenSession } from "./open-session.js";

/** How many calls of a slot can be repeated without a second turn. */
export const REMEMBERED_CALLS = 16;

/** Records searched newest first for a reply that left the context. */
const maxLookBack = 100_000;

/** Notes how a call ended, when its caller named it. */
export function rememberReply(
  state: LiveState,
  callId: string | undefined,
  reply: AgentReply,
): void {
  if (callId === undefined) return;
  remember(state, { callId, messageId: reply.message.id, reason: reply.reason });
}

/** Notes that a call left its input in the context but no reply: repeated, it goes on from there. */
export function rememberUnfinished(state: LiveState, callId: string | undefined): void {
  if (callId !== undefined) remember(state, { callId, messageId: "", reason: "error" });
}

/** Whether a call with this id began and came to no reply. */
export function wasCutShort(state: LiveState, callId: string | undefined): boolean {
  return state.finishedCalls.some((call) => call.callId === callId && isUnfinished(call));
}

/** What failed, crashed, or was cut short by a shutdown is not finished. */
function isUnfinished({ reason }: FinishedCall): boolean {
  return reason === "shutdown" || reason === "error";
}

function remember(state: LiveState, finished: FinishedCall): void {
  state.finishedCalls = [
    ...state.finishedCalls.filter(({ callId }) => callId !== finished.callId),
    finished,
  ].slice(-REMEMBERED_CALLS);
}

/** The reply of an earlier call with this id, or null when the call has to run. */
export async function recallReply(
  parts: AgentParts,
  session: OpenSession,
  { callId, output }: RuntimeContext,
): Promise<AgentReply | null> {
  if (callId === undefined) return null;
  const finished = session.state.finishedCalls.find((call) => call.callId === callId);
  if (!finished || isUnfinished(finished)) return null;
  const message = await findMessage(parts, session, finished.messageId);
  const pending: PendingCall[] = openCallsOf(session.state).map(({ call, state }) => ({
    toolCallId: call.id,
    name: call.name,
    input: call.input,
    state: state === "asking" ? "asking" : "suspended",
  }));
  return {
    reason: finished.reason,
    message,
    text: textOf(message),
    usage: message.usage ?? { inputTokens: 0, outputTokens: 0 },
    sessionId: session.slot.sessionId,
    callId,
    ...(finished.reason === "structured_output" && { output: await outputOf(message, output) }),
    ...((finished.reason === "permission_asking" || finished.reason === "tool_suspended") && {
      pending,
    }),
  } as AgentReply;
}

/** In the context, else in the log, where compaction cannot reach it. */
async function findMessage(parts: AgentParts, session: OpenSession, id: string): Promise<Message> {
  const present = session.state.context.findLast((message) => message.id === id);
  if (present) return present;
  let before: number | undefined;
  for (let seen = 0; seen < maxLookBack; ) {
    const records = await parts.log.read(session.slot, { limit: 100, before });
    const found = records.findLast(({ message }) => message?.id === id);
    if (found) return (await withBlobs(parts.log, session.slot, found)).message as Message;
    if (records.length === 0) break;
    seen += records.length;
    before = records[0]?.seq;
  }
  return createMessage("assistant", [], { id });
}
