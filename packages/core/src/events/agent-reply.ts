import type { JsonValue } from "../json/json.js";
import type { Message, Usage } from "../message/message.js";
import type { SuggestedRule } from "../state/sections.js";
import type { ToolQuestion } from "../tool/question.js";

/** Tool call that waits for an answer from outside. */
export interface PendingCall {
  readonly toolCallId: string;
  readonly name: string;
  readonly input: JsonValue;
  /** `asking`: answer with `{ confirm }`; `suspended`: with `{ answers }` if there is a `question`, else with `{ results }`. */
  readonly state: "asking" | "suspended";
  /** Reason for asking or suspending. */
  readonly reason?: string | undefined;
  /** Question of the tool to a person; answered with `{ answers }`. */
  readonly question?: ToolQuestion | undefined;
  /** Number of the question among those of the call, from 1: tells a question from one with the same words before it. */
  readonly questionNumber?: number | undefined;
  /** Rules that a person may choose to remember with the approval. */
  readonly suggestions?: readonly SuggestedRule[] | undefined;
  /** Subagent that asks; absent when the agent itself does. Answered like any other call. */
  readonly agent?: string | undefined;
  /** Label of the subagent's work, if it has one. */
  readonly label?: string | undefined;
}

/** Fields of every reply. */
export interface ReplyBase {
  /** Last assistant message. */
  readonly message: Message;
  /** Text of `message`. */
  readonly text: string;
  /** Usage of all model calls of this call. */
  readonly usage: Usage;
  readonly sessionId: string;
  readonly callId: string;
  /** Id of the run that gave the reply. */
  readonly runId: string;
}

/**
 * Result of a call, discriminated by `reason`.
 *
 * - `permission_asking` and `tool_suspended` come with the `pending` tool calls; answer with `{ confirm }`,
 *   `{ answers }` or `{ results }`.
 * - `structured_output` comes with the `output`.
 */
export type AgentReply<T = unknown> =
  | (ReplyBase & {
      readonly reason: "stop" | "interrupted" | "max_iterations" | "shutdown" | "middleware_stop";
    })
  | (ReplyBase & {
      readonly reason: "permission_asking" | "tool_suspended";
      readonly pending: readonly PendingCall[];
    })
  | (ReplyBase & { readonly reason: "structured_output"; readonly output: T });

/** Reason why a call ended. */
export type ReplyReason = AgentReply["reason"];
