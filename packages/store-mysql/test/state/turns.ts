import { AgentState, type JsonObject, type Message, type Slot, userMessage } from "@holdfast/core";
import { type LogDraft, type StateWrite, uuidv7 } from "@holdfast/core/store-kit";

/** A slot of its own. */
export function slotNamed(sessionId: string, userId: string | null = "user"): Slot {
  return { agentId: "agent", userId, sessionId };
}

/** A head as the engine writes it. */
export function headOf(slot: Slot): JsonObject {
  return JSON.parse(JSON.stringify(AgentState.create(slot).head()));
}

/** A write that appends one message behind `keep` others, with its log record. */
export function turnWrite(
  slot: Slot,
  expected: string | null,
  keep: number,
  fields: Partial<StateWrite> = {},
): StateWrite & { readonly append: readonly Message[] } {
  const message = userMessage(`message ${keep}`);
  return {
    op: uuidv7(),
    expected,
    head: headOf(slot),
    keep,
    replace: [],
    append: [message],
    log: [recordOf(message)],
    ...fields,
  };
}

/** The log record of a message. */
export function recordOf(message: Message): LogDraft {
  return {
    v: 1,
    id: message.id,
    callId: "call",
    at: message.createdAt,
    kind: "message",
    message,
  };
}
