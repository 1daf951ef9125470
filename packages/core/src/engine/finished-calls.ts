import type { AgentReply, PendingCall } from "../events/agent-reply.js";
import type { JsonValue } from "../json/json.js";
import { createMessage } from "../message/create-message.js";
import type { Message } from "../message/message.js";
import { textOf } from "../message/read-message.js";
import type { AgentState } from "../state/agent-state.js";
import type { FinishedCall } from "../state/sections.js";
import type { AgentParts } from "./agent-parts.js";
import { openCallsOf } from "./close-calls.js";
import type { OpenSession } from "./open-session.js";

/** How many calls of a slot can be repeated without a second turn. */
export const REMEMBERED_CALLS = 16;

/** Records searched newest first for a reply that left the context. */
const maxLookBack = 1_000;

/** Notes how a call ended, when its caller named it. */
export function rememberReply(
  state: AgentState,
  callId: string | undefined,
  reply: AgentReply,
): void {
  if (callId === undefined) return;
  const finished: FinishedCall = {
    callId,
    messageId: reply.message.id,
    reason: reply.reason,
    ...(reply.reason === "structured_output" && { output: reply.output as JsonValue }),
  };
  state.finishedCalls = [
    ...state.finishedCalls.filter((call) => call.callId !== callId),
    finished,
  ].slice(-REMEMBERED_CALLS);
}

/** The reply of an earlier call with this id, or null when the call has to run. */
export async function recallReply(
  parts: AgentParts,
  session: OpenSession,
  callId: string | undefined,
): Promise<AgentReply | null> {
  if (callId === undefined) return null;
  const finished = session.state.finishedCalls.find((call) => call.callId === callId);
  // What a shutdown cut short is not finished: the repeated call resumes it.
  if (!finished || finished.reason === "shutdown") return null;
  const message = await findMessage(parts, session, finished.messageId);
  const pending: PendingCall[] = openCallsOf(session.state).map(({ call, state }) => ({
    callId: call.id,
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
    ...(finished.output !== undefined && { output: finished.output }),
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
    if (found?.message) return found.message;
    if (records.length === 0) break;
    seen += records.length;
    before = records[0]?.seq;
  }
  return createMessage("assistant", [], { id });
}
