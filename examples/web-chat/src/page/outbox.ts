import type { Answer, QuestionReply } from "./api.js";
import { type ChatMessage, type PendingCall, pendingOf } from "./chat-message.js";

/** Something a person said that the server may not have yet. */
export interface Outgoing {
  /** Id of the message. */
  readonly id: string;
  readonly text?: string;
  /** Answers to tool calls that ask, by call. */
  readonly approvals?: Readonly<Record<string, Answer>>;
  /** Answers to questions of tools, by call. */
  readonly answers?: Readonly<Record<string, QuestionReply>>;
}

const key = (sessionId: string): string => `outbox:${sessionId}`;

/** Keeps what is being sent in this tab, so that neither a lost connection nor a reload loses it. */
export function keep(sessionId: string, outgoing: Outgoing): void {
  sessionStorage.setItem(key(sessionId), JSON.stringify(outgoing));
}

/**
 * Forgets what was being sent: it was answered, or its session is gone.
 *
 * @param id - only this one, should another have been kept meanwhile
 */
export function forget(sessionId: string, id?: string): void {
  const kept = sessionStorage.getItem(key(sessionId));
  if (kept !== null && (id === undefined || (JSON.parse(kept) as Outgoing).id === id))
    sessionStorage.removeItem(key(sessionId));
}

/** Returns what a history does not have yet; null when everything arrived. */
export function unsent(sessionId: string, messages: readonly ChatMessage[]): Outgoing | null {
  const kept = sessionStorage.getItem(key(sessionId));
  if (kept === null) return null;
  const outgoing = JSON.parse(kept) as Outgoing;
  const { id, approvals, answers } = outgoing;
  const waits = ({ toolCallId, questionNumber }: PendingCall) =>
    toolCallId in (approvals ?? {}) ||
    (toolCallId in (answers ?? {}) && answers?.[toolCallId]?.number === questionNumber);
  const arrived =
    (approvals ?? answers)
      ? !pendingOf(messages).some(waits)
      : messages.some((message) => message.id === id);
  if (arrived) forget(sessionId);
  return arrived ? null : outgoing;
}
