import type { JsonValue } from "../json/json.js";
import type { Message, Usage } from "../message/message.js";
import type { PermissionRule } from "../state/sections.js";

/** A tool call that waits for somebody. */
export interface PendingCall {
  readonly toolCallId: string;
  readonly name: string;
  readonly input: JsonValue;
  /** `asking`: answer with `{ confirm }`; `suspended`: answer with `{ results }`. */
  readonly state: "asking" | "suspended";
  readonly reason?: string | undefined;
  readonly suggestions?: readonly PermissionRule[] | undefined;
}

/** What every reply has. */
export interface ReplyBase {
  /** The last assistant message. */
  readonly message: Message;
  /** Its text. */
  readonly text: string;
  /** Tokens of all model calls of this call. */
  readonly usage: Usage;
  readonly sessionId: string;
  readonly callId: string;
}

/** How a call ended. */
export type AgentReply<T = unknown> =
  | (ReplyBase & {
      readonly reason: "stop" | "interrupted" | "max_iterations" | "shutdown" | "middleware_stop";
    })
  | (ReplyBase & {
      readonly reason: "permission_asking" | "tool_suspended";
      readonly pending: readonly PendingCall[];
    })
  | (ReplyBase & { readonly reason: "structured_output"; readonly output: T });

/** Why a call ended. */
export type ReplyReason = AgentReply["reason"];
