import { type LogMark, type Message, type Slot, userMessage } from "@holdfast/core";
import { type LogDraft, uuidv7 } from "@holdfast/core/store-kit";

/** The slot most tests use. */
export const slot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** A record of a user message with this text, or of the message given. */
export function messageRecord(content: string | Message, id: string = uuidv7()): LogDraft {
  const message = typeof content === "string" ? userMessage(content) : content;
  return { v: 1, id, callId: "call", at: new Date().toISOString(), kind: "message", message };
}

/** A record of a mark. */
export function markRecord(mark: LogMark, id: string = uuidv7()): LogDraft {
  return { v: 1, id, callId: "call", at: new Date().toISOString(), kind: "mark", mark };
}
