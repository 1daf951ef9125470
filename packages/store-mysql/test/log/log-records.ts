import { type Slot, userMessage } from "@holdfast/core";
import type { LogDraft } from "@holdfast/core/store-kit";

/** The slot most tests use. */
export const loggedSlot: Slot = { agentId: "agent", userId: "user", sessionId: "session" };

/** A record of a user message. */
export function textRecord(id: string, text: string, fields: Partial<LogDraft> = {}): LogDraft {
  const at = new Date().toISOString();
  return { v: 1, id, callId: "call", at, kind: "message", message: userMessage(text), ...fields };
}

export function idsOf(records: readonly { readonly id: string }[]): string[] {
  return records.map(({ id }) => id);
}
