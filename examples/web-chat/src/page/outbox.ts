import type { Answer } from "./api.js";
import { type ChatMessage, pendingOf } from "./chat-message.js";

/** Something a person said that the server may not have yet. */
export interface Outgoing {
  /** Id of the message. */
  readonly id: string;
  readonly text?: string;
  /** Answers to tool calls that ask, by call. */
  readonly approvals?: Readonly<Record<string, Answer>>;
}

const key = (sessionId: string): string => `outbox:${sessionId}`;

/** Keeps what is being sent in this tab, so that neither a lost connection nor a reload loses it. */
export function keep(sessionId: string, outgoing: Outgoing): void {
  sessionStorage.setItem(key(sessionId), JSON.stringify(outgoing));
}

/** Forgets what was being sent: it was answered, or its session is gone. */
export function forget(sessionId: string): void {
  sessionStorage.removeItem(key(sessionId));
}

/** Returns what a history does not have yet; null when everything arrived. */
export function unsent(sessionId: string, messages: readonly ChatMessage[]): Outgoing | null {
  const kept = sessionStorage.getItem(key(sessionId));
  if (kept === null) return null;
  const outgoing = JSON.parse(kept) as Outgoing;
  const { id, approvals } = outgoing;
  const arrived = approvals
    ? !pendingOf(messages).some(({ toolCallId }) => toolCallId in approvals)
    : messages.some((message) => message.id === id);
  if (arrived) forget(sessionId);
  return arrived ? null : outgoing;
}
