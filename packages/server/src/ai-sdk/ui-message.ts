import type { JsonValue, PendingCall, Usage } from "@holdfast/core";

/** State of an assistant message: `waiting` for an approval or a result from outside, and otherwise how its call ended. */
export type TurnStatus = "complete" | "waiting" | "interrupted" | "error";

/** Share of the model's window that is taken. */
export interface WindowShare {
  readonly contextTokens: number;
  readonly contextWindow?: number | undefined;
}

/** Metadata of the messages that `chatHandler` streams and lists. */
export interface ChatMetadata {
  readonly status?: TurnStatus | undefined;
  /** Tool calls that wait for an answer, each with its reason and the rules that may be remembered. */
  readonly pending?: readonly PendingCall[] | undefined;
  /** Usage of the model by call; a turn with approvals has several. */
  readonly usage?: Readonly<Record<string, Usage>> | undefined;
  /** Tokens that the model's last reply and its request take of the model's window, as far as they are known. */
  readonly context?: WindowShare | undefined;
  /** True when parts are missing, because the reader was too slow; the history has them. */
  readonly incomplete?: boolean | undefined;
  /** Time of the first message, ISO 8601; in the history only. */
  readonly createdAt?: string | undefined;
  /** True when the model no longer sees the message, because the context was compacted; in the history only. */
  readonly compacted?: boolean | undefined;
}

/** Approval of a tool part: asked for, or answered. */
export interface ToolApproval {
  readonly id: string;
  readonly approved?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** Tool call in a message. Tools of an agent are not known to the client's types, and so are always dynamic. */
export interface DynamicToolPart {
  readonly type: "dynamic-tool";
  readonly toolName: string;
  readonly toolCallId: string;
  readonly state:
    | "input-streaming"
    | "input-available"
    | "approval-requested"
    | "approval-responded"
    | "output-available"
    | "output-error"
    | "output-denied";
  readonly input?: JsonValue | undefined;
  readonly output?: JsonValue | undefined;
  readonly errorText?: string | undefined;
  readonly approval?: ToolApproval | undefined;
}

/** Part of a message. */
export type UiPart =
  | { readonly type: "step-start" }
  | { readonly type: "text"; readonly text: string; readonly state?: "streaming" | "done" }
  | {
      readonly type: "reasoning";
      readonly id?: string;
      readonly text: string;
      readonly state?: "streaming" | "done";
    }
  | {
      readonly type: "file";
      readonly mediaType: string;
      readonly url: string;
      readonly filename?: string;
    }
  | DynamicToolPart
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: JsonValue };

/** Message in the form of the AI SDK's `UIMessage`. */
export interface UiMessage {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly metadata?: ChatMetadata | undefined;
  readonly parts: readonly UiPart[];
}

/** Returns the id of the assistant message of a turn, by the call that began it: known before the model has answered. */
export function replyId(callId: string): string {
  return `reply-${callId}`;
}

/** Returns the id of a text or thought, by its number among those of its message. */
export function blockId(messageId: string, number: number): string {
  return `${messageId}.${number}`;
}
